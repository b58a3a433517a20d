// Stages of a pipeline that compute beside their passes for longer than the others do: an optimizer of their
// own, a loss, what the training loop does between the passes.
#pragma once

#include <cstdint>
#include <map>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Computation that is no forward, backward or recomputed pass, of the ranks whose steps hold more of it than
// the lower median of the others' of the same step, by a twentieth of a step and more in the mean. No
// schedule of passes makes others wait for that. By rank; empty where no pipeline tells its passes.
// O(activities).
std::map<std::int32_t, IntervalSet> computed_outside_passes(const Job& job, const Report& report);

}  // namespace lockstep::analyzer
