// The least and the greatest of a counter's points, block by block: what a stretch of any length holds is
// known from its blocks and the points at its two ends.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::viewer {

// Of finite values; of none: empty().
struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  bool empty() const { return !(low <= high); }
  void add(double value);
  void add(const ValueRange& other);
  bool operator==(const ValueRange&) const = default;
};

inline constexpr std::size_t kCounterBlock = 64;

// Of points [64 i, 64 i + 64).
std::vector<ValueRange> counter_blocks(std::span<const analyzer::CounterPoint> points);
// Of points [first, last). O(64 + (last − first) / 64). `blocks`: those of all points.
ValueRange range_of(std::span<const analyzer::CounterPoint> points, std::span<const ValueRange> blocks,
                    std::size_t first, std::size_t last);

}  // namespace lockstep::viewer
