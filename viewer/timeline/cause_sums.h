// How long each cause holds within any stretch of a rank's window: what the step bar shows where the segments
// are narrower than the pixels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/analysis.h"
#include "viewer/timeline/time_axis.h"

namespace lockstep::viewer {

using CauseTimes = std::array<std::uint64_t, analyzer::kCauseCount>;  // ns, by Cause

class CauseSums {
 public:
  CauseSums() = default;
  explicit CauseSums(const std::vector<analyzer::CauseSegment>& segments);

  // Exact, in O(log segments). `segments` are those of the constructor.
  CauseTimes within(const std::vector<analyzer::CauseSegment>& segments, Nanoseconds begin,
                    Nanoseconds end) const;

 private:
  // Sums of the first i segments; modulo 2^64, of which only differences are used.
  CauseTimes before(const std::vector<analyzer::CauseSegment>& segments, std::size_t i) const;

  static constexpr std::size_t kStride = 16;
  std::vector<CauseTimes> sums_;  // [i]: before segment i · kStride
};

}  // namespace lockstep::viewer
