// When a rank does nothing but communicate, and when it does nothing but wait.
#pragma once

#include <span>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// In operations, while it computes nothing. In the job's aligned time. O(activities) where these are in the
// order of their begins.
IntervalSet communicating_alone(const RankTrace& rank);

// Of that, while it waits for another rank in them. `waits`: of this rank, by communication.
IntervalSet waiting_alone(const RankTrace& rank, std::span<const CommunicationWait> waits);

}  // namespace lockstep::analyzer
