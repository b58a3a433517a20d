// Ranks that share a GPU: what is on it when, and what of the ranks' waiting is all the same a host's doing.
#pragma once

#include <cstdint>
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

// How long a rank of the table waited in a step, outside of compute, for one that came last and that shares
// its GPU, while nothing of that one was on the GPU or launched for it: it came later because its host had
// not launched its work. [step · ranks + rank]; empty where no ranks share a GPU. O(n log n) in activities,
// operations and cells.
std::vector<std::int64_t> waited_for_launches(const Job& job, const Report& report, const StepTable& table);

}  // namespace lockstep::analyzer
