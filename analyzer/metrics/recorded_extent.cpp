#include "analyzer/metrics/recorded_extent.h"

#include <algorithm>
#include <optional>

#include "analyzer/intervals/time_math.h"

namespace lockstep::analyzer {

Interval recorded_extent(const RankTrace& rank) {
  std::optional<Interval> extent;
  const auto add = [&extent](Nanoseconds begin, Nanoseconds end) {
    if (!extent) extent = {begin, end};
    extent->begin = std::min(extent->begin, begin);
    extent->end = std::max(extent->end, end);
  };
  for (const Activity& activity : rank.activities) {
    add(activity.begin, activity.end);
    if (activity.launch_begin != kUnknownTime) add(activity.launch_begin, activity.begin);
  }
  for (const StepMark& step : rank.steps) add(step.begin, step.end);
  // Others are kept or not as who reads the trace needs them.
  for (const HostRange& range : rank.host_ranges) {
    const bool always_kept = range.kind == HostKind::step || range.kind == HostKind::data_loading;
    if (always_kept || saturating_length(range.begin, range.end) >= kLongHostRange)
      add(range.begin, range.end);
  }
  return extent.value_or(Interval{});
}

}  // namespace lockstep::analyzer
