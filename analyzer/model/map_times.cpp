#include "analyzer/model/map_times.h"

#include <algorithm>

#include "analyzer/model/check_job.h"
#include "analyzer/model/order.h"

namespace lockstep::analyzer {
namespace {

// Every event's time, known or not: `Trace` is const or not.
template <class Trace, class Visit>
void visit_events(Trace& trace, const Visit& visit) {
  const auto visit_known = [&](auto& time) {
    if (time != kUnknownTime) visit(time);
  };
  for (auto& activity : trace.activities) {
    visit(activity.begin), visit(activity.end);
    visit_known(activity.launch_begin), visit_known(activity.launch_end);
  }
  for (auto& range : trace.host_ranges) visit(range.begin), visit(range.end);
  for (auto& step : trace.steps) visit(step.begin), visit(step.end);
  for (auto& counter : trace.counters)
    for (auto& point : counter.points) visit(point.time);
  for (auto& point : trace.scheduling) visit(point.time);
}

bool within_limits(Nanoseconds time) {
  return time > -kTimeLimit && time < kTimeLimit;
}

}  // namespace

bool map_times(RankTrace& trace, const std::function<Nanoseconds(Nanoseconds)>& map) {
  bool fits = true;
  visit_events(static_cast<const RankTrace&>(trace),
               [&](Nanoseconds time) { fits = fits && within_limits(map(time)); });
  if (!fits) return false;
  visit_events(trace, [&](Nanoseconds& time) { time = map(time); });

  const auto move_within_limits = [&](Nanoseconds& time) {
    if (time != kUnknownTime) time = std::clamp(map(time), -kTimeLimit + 1, kTimeLimit - 1);
  };
  for (std::vector<TimeSpan>* spans : {&trace.lost, &trace.unrecorded, &trace.off_cpu, &trace.without_core})
    for (TimeSpan& span : *spans) move_within_limits(span.begin), move_within_limits(span.end);
  for (OpenOperation& operation : trace.ending.operations) move_within_limits(operation.begin);
  move_within_limits(trace.ending.recorded_until);
  move_within_limits(trace.ending.hang_noted);
  move_within_limits(trace.ending.interrupted);
  order_activities(trace);
  return true;
}

EventSpan span_of_events(const RankTrace& trace) {
  EventSpan events;
  visit_events(trace, [&](Nanoseconds time) {
    if (!events.any) events.span = {time, time};
    events.any = true;
    events.span = {std::min(events.span.begin, time), std::max(events.span.end, time)};
  });
  return events;
}

}  // namespace lockstep::analyzer
