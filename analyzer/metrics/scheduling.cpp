#include "analyzer/metrics/scheduling.h"

#include <algorithm>

namespace lockstep::analyzer {
namespace {

std::int64_t part(std::int64_t of, std::int64_t numerator, std::int64_t denominator) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(of) * numerator / denominator);
}

// Sums up to `time`, which lies between the first point and the last one.
SchedulingPoint at(const std::vector<SchedulingPoint>& points, Nanoseconds time) {
  const auto next =
      std::lower_bound(points.begin(), points.end(), time,
                       [](const SchedulingPoint& point, Nanoseconds t) { return point.time < t; });
  if (next->time == time || next == points.begin() || !next->known) {
    SchedulingPoint point = *next;
    point.time = time;
    return point;
  }
  const SchedulingPoint& before = *(next - 1);
  const Nanoseconds passed = time - before.time;
  const Nanoseconds length = next->time - before.time;
  return {time, before.on_cpu_ns + part(next->on_cpu_ns - before.on_cpu_ns, passed, length),
          before.runnable_ns + part(next->runnable_ns - before.runnable_ns, passed, length),
          before.waited_ns + part(next->waited_ns - before.waited_ns, passed, length), true};
}

}  // namespace

std::optional<SchedulingTimes> scheduling_within(const std::vector<SchedulingPoint>& points,
                                                 Interval window) {
  if (points.size() < 2) return std::nullopt;
  window.begin = std::max(window.begin, points.front().time);
  window.end = std::min(window.end, points.back().time);
  if (window.begin >= window.end) return std::nullopt;
  const SchedulingPoint from = at(points, window.begin);
  const SchedulingPoint to = at(points, window.end);
  SchedulingTimes times{to.on_cpu_ns - from.on_cpu_ns, to.runnable_ns - from.runnable_ns,
                        to.waited_ns - from.waited_ns, window.end - window.begin};
  auto next = std::upper_bound(points.begin(), points.end(), window.begin,
                               [](Nanoseconds t, const SchedulingPoint& point) { return t < point.time; });
  for (; next != points.end() && (next - 1)->time < window.end; ++next) {
    if (next->known) continue;
    times.known_ns -= std::min(next->time, window.end) - std::max((next - 1)->time, window.begin);
  }
  if (times.known_ns <= 0) return std::nullopt;
  return times;
}

}  // namespace lockstep::analyzer
