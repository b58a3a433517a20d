// When a rank computed.
#pragma once

#include <utility>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// In the job's aligned time. O(activities) where they are in the order of their begins.
inline IntervalSet compute_of(const RankTrace& rank) {
  std::vector<Interval> computations;
  for (const Activity& activity : rank.activities)
    if (activity.activity_class == Class::compute) computations.push_back({activity.begin, activity.end});
  return IntervalSet::from(std::move(computations));
}

}  // namespace lockstep::analyzer
