#include "analyzer/metrics/windows.h"

#include <algorithm>
#include <limits>

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

struct Launched {
  Nanoseconds first_begin = kNever;
  Nanoseconds last_end = kUnknownTime;
  bool any() const { return first_begin != kNever; }
};

// Whether nobody's absence lies between: otherwise what comes next isn't what came next.
bool was_recorded_between(const RankTrace& rank, Nanoseconds begin, Nanoseconds end) {
  return std::none_of(rank.unrecorded.begin(), rank.unrecorded.end(),
                      [&](const TimeSpan& span) { return span.begin < end && span.end > begin; });
}

}  // namespace

std::vector<Interval> recorded_parts(const RankTrace& rank, Interval window) {
  std::vector<Interval> parts;
  Nanoseconds from = window.begin;
  auto activity = rank.activities.begin();
  Nanoseconds busy_until = kUnknownTime;  // by what began before the span
  for (const TimeSpan& span : rank.unrecorded) {
    if (span.begin >= window.end) break;
    for (; activity != rank.activities.end() && activity->begin < span.begin; ++activity)
      if (is_work(*activity)) busy_until = std::max(busy_until, activity->end);
    const Nanoseconds absent = std::max(span.begin, busy_until);
    if (absent >= span.end || span.end <= from) continue;
    if (absent > from) parts.push_back({from, std::min(absent, window.end)});
    from = std::max(from, span.end);
  }
  if (from < window.end || parts.empty()) parts.push_back({std::min(from, window.end), window.end});
  return parts;
}

std::uint32_t launching_step(const RankTrace& rank, const Activity& activity) {
  if (activity.step != kNone) return activity.step;
  if (activity.launch_end == kUnknownTime || rank.steps.empty()) return kNone;
  // The first step that ends at or after the return: a call that returns on a boundary belongs to the step it
  // began in.
  const auto found = std::lower_bound(rank.steps.begin(), rank.steps.end(), activity.launch_end,
                                      [](const StepMark& step, Nanoseconds time) { return step.end < time; });
  if (found == rank.steps.end() || found->begin > activity.launch_end) return kNone;
  return static_cast<std::uint32_t>(found - rank.steps.begin());
}

Interval whole_window(const RankTrace& rank) {
  Interval whole;
  bool any = false;
  for (const Activity& activity : rank.activities) {
    if (!is_work(activity)) continue;
    if (!any) whole = {activity.begin, activity.end};
    any = true;
    whole.end = std::max(whole.end, activity.end);
  }
  return whole;
}

RankWindows find_windows(const RankTrace& rank) {
  RankWindows result;
  result.whole = whole_window(rank);
  std::vector<Launched> launched(rank.steps.size());

  for (const Activity& activity : rank.activities) {
    if (!is_work(activity)) continue;
    result.has_work = true;
    const std::uint32_t step = launching_step(rank, activity);
    if (step == kNone) continue;
    launched[step].first_begin = std::min(launched[step].first_begin, activity.begin);
    launched[step].last_end = std::max(launched[step].last_end, activity.end);
  }
  Nanoseconds free_from = kUnknownTime;  // the end of the window before
  for (std::uint32_t index = 0; index < rank.steps.size(); ++index) {
    const StepMark& mark = rank.steps[index];
    const Launched& own = launched[index];
    StepWindow step{mark.number, index, {mark.begin, mark.end}, !own.any()};
    if (own.any()) {
      const bool next_is_known = index + 1 < launched.size() && launched[index + 1].any() &&
                                 was_recorded_between(rank, own.last_end, launched[index + 1].first_begin);
      step.window = {own.first_begin, next_is_known ? launched[index + 1].first_begin : own.last_end};
    }
    step.window.begin = std::max(step.window.begin, free_from);
    step.window.end = std::max(step.window.end, step.window.begin);
    free_from = step.window.end;
    result.steps.push_back(step);
  }
  return result;
}

}  // namespace lockstep::analyzer
