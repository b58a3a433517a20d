// What a rank's training threads did over a stretch of time, from the points at which they were looked at.
// Between two points they are taken to have done it evenly (docs/metrics.md, "On a core").
#pragma once

#include <optional>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct SchedulingTimes {
  std::int64_t on_cpu_ns = 0;
  std::int64_t runnable_ns = 0;
  std::int64_t waited_ns = 0;
  std::int64_t known_ns = 0;  // how much of the stretch was looked at
};
// Nothing where no part of it was. O(log points + the points within).
std::optional<SchedulingTimes> scheduling_within(const std::vector<SchedulingPoint>& points, Interval window);

}  // namespace lockstep::analyzer
