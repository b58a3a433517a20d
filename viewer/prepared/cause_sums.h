// How long each cause holds within any stretch of a rank's window: what the step bar shows where the segments
// are narrower than the pixels.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/metrics/cause_segment.h"
#include "viewer/prepared/time_range.h"

namespace lockstep::viewer {

using CauseTimes = std::array<std::uint64_t, analyzer::kCauseCount>;  // ns, by Cause

// A view of a rank's segments and of sums over them. Both outlive it.
class CauseSums {
 public:
  CauseSums() = default;
  // `sums` are cause_sums_of(segments).
  CauseSums(std::span<const analyzer::CauseSegment> segments, std::span<const CauseTimes> sums)
      : segments_(segments), sums_(sums) {}

  // Exact, in O(log segments).
  CauseTimes within(Nanoseconds begin, Nanoseconds end) const;

 private:
  // Sums of the first i segments; modulo 2^64, of which only differences are used.
  CauseTimes before(std::size_t i) const;

  std::span<const analyzer::CauseSegment> segments_;
  std::span<const CauseTimes> sums_;  // [i]: before segment i · stride
};

std::vector<CauseTimes> cause_sums_of(std::span<const analyzer::CauseSegment> segments);

}  // namespace lockstep::viewer
