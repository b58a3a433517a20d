// Which GPUs take longer than the others for as much work, step after step?
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diagnose/kernel_work.h"
#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

struct SlowerRank {
  std::int32_t rank = 0;
  double times = 1;       // the median of the others, for as much work, in the mean of its steps
  std::size_t steps = 0;  // in which it took longer than their median
};

// Those that take 1.1 times as long or more, and longer than the median of the others in nine of ten of the
// table's steps. Time per warp depends on how many there are: what a rank's work differs from the others' in
// the mean, in either direction, is taken off. Nobody where sizes are not known, or ranks share a GPU.
// O(steps · ranks · log ranks).
std::vector<SlowerRank> slower_ranks(const Job& job, const StepTable& table, const KernelWork& work);

}  // namespace lockstep::analyzer
