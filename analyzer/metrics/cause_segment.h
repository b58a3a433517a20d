// A stretch of time and why the rank spent it so.
#pragma once

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

}  // namespace lockstep::analyzer
