#include "analyzer/import/run/scheduling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/import/run/cut_activities.h"
#include "analyzer/intervals/interval_set.h"
#include "base/numbers.h"
#include "trace/events/scheduling.h"

namespace lockstep::analyzer::run {
namespace {

// What is at most this part of an interval is nothing, and what is more than that part is something.
constexpr std::int64_t kNothing = 20;
constexpr std::int64_t kSomething = 5;

// What happened between two points.
struct Between {
  Nanoseconds begin = 0, end = 0;
  std::int64_t on_cpu = 0, runnable = 0, waited = 0;
  std::int64_t computed = 0;  // of it lies in the rank's ranges of computation
  bool known = false;
  std::int64_t length() const { return end - begin; }
  bool nobody_ran() const { return known && length() > 0 && on_cpu <= length() / kNothing; }
  // Told as a wait of this interval and no computation of it: it may be that of a later one.
  std::int64_t wait_beside() const {
    return std::clamp<std::int64_t>(on_cpu + runnable - computed, 0, runnable);
  }
};

std::int64_t amount(double value, Nanoseconds length) {
  // Of a damaged or made-up file: no more than a thousand cores.
  constexpr double kMost = 1000;
  return value > 0 ? std::llround(std::min(value, kMost) * static_cast<double>(length)) : 0;
}

IntervalSet set_of(const std::vector<TimeSpan>& spans) {
  std::vector<Interval> intervals;
  for (const TimeSpan& span : spans) intervals.push_back({span.begin, span.end});
  return IntervalSet::from(std::move(intervals));
}

std::vector<TimeSpan> spans_of(const IntervalSet& set) {
  std::vector<TimeSpan> spans;
  for (const Interval& one : set.intervals()) spans.push_back({one.begin, one.end});
  return spans;
}

// Of the spans, taken together, what lies from `skip` on for `length`.
void add_part(const std::vector<TimeSpan>& spans, std::int64_t skip, std::int64_t length,
              std::vector<TimeSpan>& to) {
  for (const TimeSpan& span : spans) {
    const std::int64_t skipped = std::min(skip, span.end - span.begin);
    skip -= skipped;
    const Nanoseconds begin = span.begin + skipped;
    const Nanoseconds end = begin + std::min(length, span.end - begin);
    if (begin >= end) continue;
    length -= end - begin;
    if (!to.empty() && to.back().end == begin) {
      to.back().end = end;
    } else {
      to.push_back({begin, end});
    }
  }
}

// Thread to the time since when it is followed; the latest, where its number came twice.
std::map<std::uint64_t, Nanoseconds> parse_threads(std::string_view text) {
  std::map<std::uint64_t, Nanoseconds> threads;
  while (const auto thread = take_number<std::uint64_t>(text)) {
    if (!text.starts_with(':')) break;
    text.remove_prefix(1);
    const auto since = take_number<Nanoseconds>(text);
    if (!since) break;
    threads[*thread] = std::max(threads.emplace(*thread, *since).first->second, *since);
    if (!text.empty()) text.remove_prefix(1);
  }
  return threads;
}

// The kernel tells a wait for a core when it is over, and the recorder gives it back to the intervals before,
// oldest first: where a thread slept outside of its computation in one of them, it has so much less of the
// wait in the last. Between them are intervals in which nobody ran.
std::int64_t waits_told_earlier(const std::vector<Between>& all, std::size_t of) {
  constexpr std::size_t kHeld = 32;  // as many as the recorder goes back
  std::int64_t told = 0;
  for (std::size_t back = 1; back <= std::min(of, kHeld); ++back) {
    const Between& earlier = all[of - back];
    if (!earlier.known || earlier.end != all[of - back + 1].begin) break;
    told += earlier.wait_beside();
    if (!earlier.nobody_ran()) break;
  }
  return told;
}

}  // namespace

bool SchedulingImport::take(std::string_view counter, Nanoseconds time, double value) {
  std::vector<CounterPoint>* const points = counter == trace::kOnCpuCounter      ? &on_cpu_
                                            : counter == trace::kRunnableCounter ? &runnable_
                                            : counter == trace::kWaitedCounter   ? &waited_
                                                                                 : nullptr;
  if (points == nullptr) return false;
  points->push_back({time, value});
  return true;
}

void SchedulingImport::finish(RankTrace& rank) {
  const auto by_time = [](const CounterPoint& a, const CounterPoint& b) { return a.time < b.time; };
  for (std::vector<CounterPoint>* points : {&on_cpu_, &runnable_, &waited_})
    std::stable_sort(points->begin(), points->end(), by_time);
  const IntervalSet unknown = unite(set_of(rank.unrecorded), set_of(rank.lost));
  SchedulingPoint sum;
  auto runnable = runnable_.begin();
  auto waited = waited_.begin();
  for (const CounterPoint& point : on_cpu_) {
    // A part of a file may be lost: only what all three tell.
    while (runnable != runnable_.end() && runnable->time < point.time) ++runnable;
    while (waited != waited_.end() && waited->time < point.time) ++waited;
    if (runnable == runnable_.end() || waited == waited_.end()) break;
    if (runnable->time != point.time || waited->time != point.time) continue;
    if (!rank.scheduling.empty() && point.time <= sum.time) continue;
    const Nanoseconds begin = std::exchange(sum.time, point.time);
    const Nanoseconds length = rank.scheduling.empty() ? 0 : point.time - begin;
    sum.known = length > 0 && point.value >= 0 && runnable->value >= 0 && waited->value >= 0 &&
                unknown.measure_within(begin, point.time) == 0;
    if (sum.known) {
      sum.on_cpu_ns += amount(point.value, length);
      sum.runnable_ns += amount(runnable->value, length);
      sum.waited_ns += std::min<std::int64_t>(length, amount(waited->value, length));
    }
    rank.scheduling.push_back(sum);
  }
}

OffCore find_off_core(const std::vector<SchedulingPoint>& points, const std::vector<TimeSpan>& computed) {
  const IntervalSet ranges = set_of(computed);
  std::vector<Between> all;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const SchedulingPoint& from = points[i - 1];
    const SchedulingPoint& to = points[i];
    all.push_back({from.time, to.time, to.on_cpu_ns - from.on_cpu_ns, to.runnable_ns - from.runnable_ns,
                   to.waited_ns - from.waited_ns, ranges.measure_within(from.time, to.time), to.known});
  }
  const auto slept_through = [&](std::size_t i) {
    return i < all.size() && all[i].nobody_ran() &&
           all[i].length() - all[i].on_cpu - all[i].runnable > all[i].length() / kNothing;
  };
  OffCore off;
  std::size_t next = 0;  // of the computed spans, the first that ends behind the interval's begin
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Between& one = all[i];
    while (next < computed.size() && computed[next].end <= one.begin) ++next;
    if (!one.known || one.length() <= 0) continue;
    std::vector<TimeSpan> parts;  // of the interval, that are computation
    for (std::size_t n = next; n < computed.size() && computed[n].begin < one.end; ++n)
      parts.push_back({std::max(one.begin, computed[n].begin), std::min(one.end, computed[n].end)});
    const std::int64_t length = one.computed;
    // So much of it is sleep, wherever in the interval the threads ran and waited.
    const std::int64_t asleep =
        std::max<std::int64_t>(0, length - one.on_cpu - one.runnable - waits_told_earlier(all, i));
    if (one.nobody_ran()) {
      // First what ran, then sleep, then, awake again, the wait for a core.
      const std::int64_t ran = std::min(length - asleep, one.on_cpu);
      add_part(parts, ran, asleep, off.asleep);
      if (one.waited > one.length() / kNothing)
        add_part(parts, ran + asleep, std::min(one.waited, length - ran - asleep), off.without_core);
    } else if (asleep > one.length() / kNothing && slept_through(i + 1) && all[i + 1].begin == one.end) {
      add_part(parts, length - asleep, asleep, off.asleep);
    } else if (asleep > one.length() / kNothing && i > 0 && slept_through(i - 1) &&
               all[i - 1].end == one.begin) {
      add_part(parts, 0, asleep, off.asleep);
    } else if (asleep > one.length() / kSomething) {
      add_part(parts, length - asleep, asleep, off.asleep);
    }
  }
  return off;
}

void cut_computations(RankTrace& rank, const std::string& threads) {
  if (rank.device != "cpu" || rank.scheduling.size() < 2) return;
  const std::map<std::uint64_t, Nanoseconds> followed = parse_threads(threads);
  std::vector<Interval> ranges;
  Nanoseconds since = rank.scheduling.front().time;
  for (const Activity& activity : rank.activities) {
    if (!computes_on_thread(rank, activity)) continue;
    const auto thread = followed.find(rank.lanes[activity.lane].handle);
    if (thread == followed.end()) return;
    since = std::max(since, thread->second);
    ranges.push_back({activity.begin, activity.end});
  }
  const IntervalSet computed = IntervalSet::from(std::move(ranges));
  const OffCore off = find_off_core(rank.scheduling, spans_of(computed));
  const auto judged = [&](const std::vector<TimeSpan>& spans) {
    std::vector<Interval> later;
    for (const TimeSpan& span : spans) later.push_back({std::max(span.begin, since), span.end});
    return intersect(IntervalSet::from(std::move(later)), computed);
  };
  const IntervalSet asleep = judged(off.asleep);
  const IntervalSet without_core = subtract(judged(off.without_core), asleep);
  rank.off_cpu_known = true;
  rank.off_cpu = spans_of(asleep);
  rank.without_core = spans_of(without_core);
  const IntervalSet cut = unite(asleep, without_core);
  if (cut.empty()) return;
  cut_activities(rank, [&](const Activity&) { return &cut; });
}

}  // namespace lockstep::analyzer::run
