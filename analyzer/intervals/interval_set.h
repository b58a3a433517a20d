// Sets of instants as sorted, disjoint, half-open intervals [begin, end) of int64 nanoseconds.
//
//   IntervalSet compute;
//   compute.append(0, 10);
//   compute.append(5, 20);                       // begins never decrease
//   intersect(compute, communication).measure();
//
// Intervals of a set never touch: [0,5) and [5,9) are stored as [0,9). Empty and reversed intervals cover
// nothing and are ignored. Every operation is linear in the intervals it looks at; a measure that does not
// fit 64 bits is the greatest 64-bit number. 16 bytes an interval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/events/event.h"

namespace lockstep::analyzer {

using trace::Nanoseconds;

struct Interval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

class IntervalSet {
 public:
  IntervalSet() = default;

  // Any order, any overlap. O(n log n), O(n) where already sorted by begin.
  static IntervalSet from(std::vector<Interval> intervals);

  // Adds [begin, end). Precondition: begin is not before the begin of any interval appended so far. O(1).
  void append(Nanoseconds begin, Nanoseconds end) {
    if (begin >= end) return;
    if (!intervals_.empty() && begin <= intervals_.back().end) {
      if (end > intervals_.back().end) intervals_.back().end = end;
      return;
    }
    intervals_.push_back({begin, end});
  }
  void reserve(std::size_t count) { intervals_.reserve(count); }
  void shrink_to_fit() { intervals_.shrink_to_fit(); }

  const std::vector<Interval>& intervals() const { return intervals_; }
  bool empty() const { return intervals_.empty(); }
  bool contains(Nanoseconds time) const;  // O(log n)
  std::int64_t measure() const;           // Σ (end − begin)
  std::int64_t measure_within(Nanoseconds begin, Nanoseconds end) const;
  // Index of the first interval that ends after `time`; intervals().size() where none does. O(log n).
  std::size_t first_ending_after(Nanoseconds time) const;

  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  std::vector<Interval> intervals_;
};

IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
// a without b. Linear in a and in what of b lies within it.
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);

// Answers "how much of [begin, end) does the set cover?" in O(log n), whatever the range holds. The set must
// outlive it and stay as it is. 8 bytes an interval.
class CoverageIndex {
 public:
  explicit CoverageIndex(const IntervalSet& set);
  std::int64_t within(Nanoseconds begin, Nanoseconds end) const;
  std::int64_t before(Nanoseconds time) const;  // covered instants before `time`

 private:
  const IntervalSet* set_;
  std::vector<std::int64_t> measure_before_;  // per interval
};

}  // namespace lockstep::analyzer
