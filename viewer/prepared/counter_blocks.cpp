#include "viewer/prepared/counter_blocks.h"

#include <algorithm>
#include <cmath>

namespace lockstep::viewer {

void ValueRange::add(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

void ValueRange::add(const ValueRange& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

std::vector<ValueRange> counter_blocks(std::span<const analyzer::CounterPoint> points) {
  std::vector<ValueRange> blocks((points.size() + kCounterBlock - 1) / kCounterBlock);
  for (std::size_t i = 0; i < points.size(); ++i) blocks[i / kCounterBlock].add(points[i].value);
  return blocks;
}

ValueRange range_of(std::span<const analyzer::CounterPoint> points, std::span<const ValueRange> blocks,
                    std::size_t first, std::size_t last) {
  ValueRange range;
  std::size_t at = first;
  while (at < last) {
    const std::size_t block = at / kCounterBlock;
    if (at % kCounterBlock == 0 && at + kCounterBlock <= last && block < blocks.size()) {
      range.add(blocks[block]);
      at += kCounterBlock;
    } else {
      range.add(points[at++].value);
    }
  }
  return range;
}

}  // namespace lockstep::viewer
