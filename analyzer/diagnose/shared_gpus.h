// Ranks that share a GPU: what is on it when, and what of their time is a rank's own all the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Kernels and copies; synchronization is the host's.
bool is_on_gpu(const RankTrace& rank, const Activity& activity);
// When something of the rank was on its GPU. O(n log n) in its activities.
IntervalSet on_the_gpu(const RankTrace& rank);

// When two of them at least had something on it, of what each had when. O(n log n).
IntervalSet at_once(std::span<const IntervalSet> on_the_gpu);

// What is a rank's own of the time that a shared GPU takes. [step · ranks + rank], as the table's cells;
// empty where no ranks share a GPU.
struct SharedGpuTimes {
  // How long the rank waited in the step, outside of compute, for one that came last and that shares its GPU,
  // while nothing of that one was on the GPU or launched for it: it came later because its host had not
  // launched its work.
  std::vector<std::int64_t> waited_for_launches;
  // By how much more than each other rank of its GPU it computes in the step, at least. Without the
  // Multi-Process Service a GPU gives k ranks turns: what one computes takes about k times as long as alone
  // at most, and only while another has something on the GPU. So what it computes meanwhile counts as a k-th,
  // and all that each other one computes as a whole. 0 where that is no more, or another one's is not known.
  std::vector<std::int64_t> computes_beyond;
};
// O(n log n) in activities and operations, and in the table's cells.
SharedGpuTimes shared_gpu_times(const Job& job, const Report& report, const StepTable& table);

}  // namespace lockstep::analyzer
