#include "analyzer/intervals/interval_set.h"

#include <algorithm>

#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

bool begins_before(const Interval& a, const Interval& b) {
  return a.begin < b.begin;
}

}  // namespace

IntervalSet IntervalSet::from(std::vector<Interval> intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), begins_before)) {
    std::sort(intervals.begin(), intervals.end(), begins_before);
  }
  IntervalSet set;
  // Merged in place: the k-th merged interval is written at or before the place it was read from.
  std::size_t count = 0;
  for (const Interval interval : intervals) {
    if (interval.begin >= interval.end) continue;
    if (count > 0 && interval.begin <= intervals[count - 1].end) {
      intervals[count - 1].end = std::max(intervals[count - 1].end, interval.end);
    } else {
      intervals[count++] = interval;
    }
  }
  intervals.resize(count);
  set.intervals_ = std::move(intervals);
  return set;
}

std::size_t IntervalSet::first_ending_after(Nanoseconds time) const {
  const auto found =
      std::upper_bound(intervals_.begin(), intervals_.end(), time,
                       [](Nanoseconds t, const Interval& interval) { return t < interval.end; });
  return static_cast<std::size_t>(found - intervals_.begin());
}

bool IntervalSet::contains(Nanoseconds time) const {
  const std::size_t index = first_ending_after(time);
  return index < intervals_.size() && intervals_[index].begin <= time;
}

std::int64_t IntervalSet::measure() const {
  std::int64_t sum = 0;
  for (const Interval& interval : intervals_)
    sum = saturating_add(sum, saturating_length(interval.begin, interval.end));
  return sum;
}

std::int64_t IntervalSet::measure_within(Nanoseconds begin, Nanoseconds end) const {
  if (begin >= end) return 0;
  std::int64_t sum = 0;
  for (std::size_t i = first_ending_after(begin); i < intervals_.size() && intervals_[i].begin < end; ++i) {
    sum = saturating_add(
        sum, saturating_length(std::max(begin, intervals_[i].begin), std::min(end, intervals_[i].end)));
  }
  return sum;
}

IntervalSet unite(const IntervalSet& a, const IntervalSet& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  std::vector<Interval> merged(a.intervals().size() + b.intervals().size());
  std::merge(a.intervals().begin(), a.intervals().end(), b.intervals().begin(), b.intervals().end(),
             merged.begin(), begins_before);
  return IntervalSet::from(std::move(merged));
}

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  auto i = a.intervals().begin();
  auto j = b.intervals().begin();
  while (i != a.intervals().end() && j != b.intervals().end()) {
    result.append(std::max(i->begin, j->begin), std::min(i->end, j->end));
    if (i->end < j->end) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

IntervalSet subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  if (a.empty()) return result;
  auto j =
      b.intervals().begin() + static_cast<std::ptrdiff_t>(b.first_ending_after(a.intervals().front().begin));
  for (const Interval& interval : a.intervals()) {
    Nanoseconds from = interval.begin;
    while (j != b.intervals().end() && j->end <= from) ++j;
    for (auto k = j; k != b.intervals().end() && k->begin < interval.end; ++k) {
      result.append(from, k->begin);
      from = k->end;
      j = k;  // the last one may reach into the next interval of a
    }
    result.append(from, interval.end);
  }
  return result;
}

CoverageIndex::CoverageIndex(const IntervalSet& set) : set_(&set) {
  measure_before_.reserve(set.intervals().size());
  std::int64_t sum = 0;
  for (const Interval& interval : set.intervals()) {
    measure_before_.push_back(sum);
    sum = saturating_add(sum, saturating_length(interval.begin, interval.end));
  }
}

std::int64_t CoverageIndex::before(Nanoseconds time) const {
  const std::vector<Interval>& intervals = set_->intervals();
  // The last interval that begins before `time` counts up to its end or to `time`.
  const auto after =
      std::lower_bound(intervals.begin(), intervals.end(), time,
                       [](const Interval& interval, Nanoseconds t) { return interval.begin < t; });
  if (after == intervals.begin()) return 0;
  const auto last = static_cast<std::size_t>(after - intervals.begin()) - 1;
  return saturating_add(measure_before_[last],
                        saturating_length(intervals[last].begin, std::min(time, intervals[last].end)));
}

std::int64_t CoverageIndex::within(Nanoseconds begin, Nanoseconds end) const {
  return begin < end ? before(end) - before(begin) : 0;
}

}  // namespace lockstep::analyzer
