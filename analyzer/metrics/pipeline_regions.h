// When each rank was inside a pipeline's region: idle time there is the pipeline's bubble.
#pragma once

#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/match/match.h"
#include "analyzer/metrics/windows.h"

namespace lockstep::analyzer {

// Per rank: the union, over the pipeline groups it belongs to and over steps, of first to last point-to-point
// operation of the group in the step, on any of its ranks. Forward and backward ranges on the device are not
// known to a Job.
std::vector<IntervalSet> find_pipeline_regions(const Job& job, const Matching& matching);

}  // namespace lockstep::analyzer
