#include "viewer/prepared/counter_blocks.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep::viewer {
namespace {

TEST(CounterBlocks, AnyStretchHoldsWhatItsPointsHold) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<analyzer::CounterPoint> points(random() % 1'000);
    for (analyzer::CounterPoint& point : points) {
      point.value = static_cast<double>(random() % 10'000) - 5'000;
      if (random() % 10 == 0) point.value = std::numeric_limits<double>::quiet_NaN();
      if (random() % 20 == 0) point.value = std::numeric_limits<double>::infinity();
    }
    const std::vector<ValueRange> blocks = counter_blocks(points);
    const std::size_t first = random() % (points.size() + 1);
    const std::size_t last = first + random() % (points.size() - first + 1);
    ValueRange expected;
    for (std::size_t i = first; i < last; ++i) {
      const double value = points[i].value;
      if (!(std::abs(value) < 1e300)) continue;
      expected.low = std::min(expected.low, value);
      expected.high = std::max(expected.high, value);
    }
    EXPECT_EQ(range_of(points, blocks, first, last), expected) << first << " to " << last;
  }
}

TEST(CounterBlocks, NothingFiniteIsEmpty) {
  const std::vector<analyzer::CounterPoint> points{{0, std::numeric_limits<double>::quiet_NaN()},
                                                   {1, -std::numeric_limits<double>::infinity()}};
  EXPECT_TRUE(range_of(points, counter_blocks(points), 0, 2).empty());
  EXPECT_TRUE(range_of({}, {}, 0, 0).empty());
  ValueRange range;
  range.add(0);
  EXPECT_FALSE(range.empty());
}

}  // namespace
}  // namespace lockstep::viewer
