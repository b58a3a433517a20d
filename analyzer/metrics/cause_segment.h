// A stretch of time and why the rank spent it so.
#pragma once

#include <array>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Segments of a window are sorted, not empty, touch each other, cover the window exactly, and neighbours
// differ in cause.
struct CauseSegment {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Cause cause = Cause::other;
  friend bool operator==(const CauseSegment&, const CauseSegment&) = default;
};

// Of each cause the longest stretch that a rank spent so at a time; empty where it never did.
using LongestStretches = std::array<Interval, kCauseCount>;

}  // namespace lockstep::analyzer
