// How far one clock is ahead of another, from bounds at single instants: the straight lines that fit.
//
// Two clocks run at nearly the same rate, so that their difference is a straight line; where a clock was set,
// a new line begins. A line fits if it passes below every upper and above every lower bound (Duda et al.,
// "Estimating global time in distributed systems", 1987, by convex hulls).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/events/event.h"

namespace lockstep::analyzer {

// At the own clock's reading `at`, the other clock's reading minus it is at most (at least) `offset`.
struct OffsetBound {
  trace::Nanoseconds at = 0;
  std::int64_t offset = 0;
  bool upper = false;
};

// A run of bounds that one line fits: [first, first + count) of the bounds.
struct FittedPiece {
  std::size_t first = 0;
  std::size_t count = 0;
  // Nanoseconds the other clock gains on this one per nanosecond: what all lines that fit lie within.
  double least_rate = 0;
  double most_rate = 0;
};

// Precondition: sorted by `at`. Rates are within ±most_rate. A piece ends where the next bound leaves no
// line: a clock was set. When exactly is not known: bounds before that fit either side are in neither piece.
// O(n log n), and a second look at what lies in doubt before each end.
std::vector<FittedPiece> fit_offset(std::span<const OffsetBound> bounds, double most_rate);

}  // namespace lockstep::analyzer
