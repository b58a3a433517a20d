// When a recorded rank's training threads ran, slept, and waited for a core (trace/events/scheduling.h), and
// what that says of its ranges of computation on a CPU: a range in which nobody ran did not compute.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer::run {

class SchedulingImport {
 public:
  // Whether the counter is one of those; its points are then taken here. Times are sound, in any order.
  bool take(std::string_view counter, Nanoseconds time, double value);
  // The points of all three counters together. What lies in `rank.unrecorded` or
  // `rank.lost` is not known.
  void finish(RankTrace& rank);

 private:
  std::vector<CounterPoint> on_cpu_, runnable_, waited_;
};

// In which parts of `computed` (sorted, disjoint) no training thread can have run (docs/metrics.md, "On a
// core"): all slept, or some were ready and had no core. Sorted, disjoint.
struct OffCore {
  std::vector<TimeSpan> asleep, without_core;
};
OffCore find_off_core(const std::vector<SchedulingPoint>& points, const std::vector<TimeSpan>& computed);

// Of a CPU: takes out of the ranges of computation what was not on a core, and sets `rank.off_cpu` and
// `rank.without_core`. `threads`: which threads the points are of, "4711:123,…"; lanes of other threads keep
// what they have, and so do all where any lane that computes is of one that is not among them.
void cut_computations(RankTrace& rank, const std::string& threads);

}  // namespace lockstep::analyzer::run
