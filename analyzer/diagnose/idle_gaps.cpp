#include "analyzer/diagnose/idle_gaps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/scheduling.h"

namespace lockstep::analyzer {
namespace {

// Times as long as a gap that the looks around it may be apart.
constexpr std::int64_t kMost = 4;

bool is_before(const SchedulingPoint& point, Nanoseconds time) {
  return point.time < time;
}
bool is_behind(Nanoseconds time, const SchedulingPoint& point) {
  return time < point.time;
}

}  // namespace

IntervalSet evaluation_and_the_like(const RankTrace& rank, const StringTable& strings) {
  const Phases phases = find_phases(rank, strings);
  return unite(unite(phases[Phase::evaluation], phases[Phase::checkpoint]), phases[Phase::compilation]);
}

IntervalSet windows_of(const RankTrace& rank, const Report& report) {
  std::vector<Interval> steps;
  const std::int64_t origin = report.origin_aligned_ns;
  for (const StepReport& step : report.steps)
    if (step.rank == rank.rank) steps.push_back({step.begin_ns + origin, step.end_ns + origin});
  IntervalSet in_steps = IntervalSet::from(std::move(steps));
  for (const RankReport& one : report.ranks)
    if (one.rank == rank.rank && one.measures.window_ns > in_steps.measure())
      return IntervalSet::from({{one.begin_ns + origin, one.end_ns + origin}});
  return in_steps;
}

IntervalSet gaps_of(const RankTrace& rank, const Report& report, Cause cause) {
  std::vector<Interval> busy, loading;
  for (const Activity& activity : rank.activities)
    if (activity.begin < activity.end) busy.push_back({activity.begin, activity.end});
  for (const HostRange& range : rank.host_ranges)
    if (range.kind == HostKind::data_loading) loading.push_back({range.begin, range.end});
  const IntervalSet gaps = subtract(windows_of(rank, report), IntervalSet::from(std::move(busy)));
  const IntervalSet loads = IntervalSet::from(std::move(loading));
  return cause == Cause::data_wait ? intersect(gaps, loads) : subtract(gaps, loads);
}

GapTimes times_of_gaps(const RankTrace& rank, const Report& report, Cause cause) {
  const IntervalSet gaps = gaps_of(rank, report, cause);
  std::vector<Interval> ranges;
  for (const Activity& activity : rank.activities)
    if (activity.activity_class == Class::compute && activity.begin < activity.end)
      ranges.push_back({activity.begin, activity.end});
  const IntervalSet computed = IntervalSet::from(std::move(ranges));
  const std::vector<SchedulingPoint>& looks = rank.scheduling;
  GapTimes times;
  std::int64_t seen_ns = 0, least_ns = 0, most_ns = 0;
  for (const Interval& gap : gaps.intervals()) {
    const std::int64_t length = gap.end - gap.begin;
    times.all_ns += length;
    if (const auto within = scheduling_within(looks, gap)) times.without_core_ns += within->waited_ns;
    const auto after = std::lower_bound(looks.begin(), looks.end(), gap.end, is_before);
    auto before = std::upper_bound(looks.begin(), after, gap.begin, is_behind);
    if (after == looks.end() || before == looks.begin()) continue;
    --before;
    const Interval around{before->time, after->time};
    const std::int64_t passed = around.end - around.begin;
    if (passed > kMost * length) continue;
    const auto within = scheduling_within(looks, around);
    if (!within || within->known_ns != passed) continue;
    seen_ns += length;
    const std::int64_t awake = within->on_cpu_ns + within->waited_ns;
    least_ns += std::clamp<std::int64_t>(awake - (passed - length), 0, length);
    most_ns += std::clamp<std::int64_t>(awake - computed.measure_within(around.begin, around.end), 0, length);
  }
  if (seen_ns > times.all_ns / 3) {
    times.running = {static_cast<double>(least_ns) / static_cast<double>(seen_ns),
                     static_cast<double>(most_ns) / static_cast<double>(seen_ns)};
  }
  return times;
}

}  // namespace lockstep::analyzer
