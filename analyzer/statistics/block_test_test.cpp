#include "analyzer/statistics/block_test.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "analyzer/statistics/place_sums.h"

namespace lockstep::analyzer {
namespace {

using Blocks2 = std::vector<std::vector<double>>;

TEST(BlockTest, OfTwoASmallDifferenceTheWrongWaySpeaksLessAgainstIt) {
  Blocks2 values;
  for (int block = 1; block <= 12; ++block) values.push_back({0, 1.0 * block});
  EXPECT_DOUBLE_EQ(chances_of_members(values)[1], 2.0 / 4096);
  EXPECT_DOUBLE_EQ(chances_of_members(values)[0], 1);
  values[0][1] = -0.5;  // the smallest difference
  EXPECT_DOUBLE_EQ(chances_of_members(values)[1], 2 * 2.0 / 4096);
  values[0][1] = 1;
  values[11][1] = -12;  // the largest: all sums of places up to 12, of which 2^12 subsets have 70
  EXPECT_GT(chances_of_members(values)[1], 0.02);
}

TEST(BlockTest, OfMoreItIsTheSumOfPlaces) {
  std::mt19937 random(3);
  Blocks2 values(9, std::vector<double>(5));
  for (std::vector<double>& block : values)
    for (double& value : block) value = static_cast<double>(random());
  for (std::vector<double>& block : values) block[3] += 4e9;
  const std::vector<double> chances = chances_of_members(values);
  const std::vector<std::int64_t> sums = place_sums(values);
  ASSERT_EQ(chances.size(), 5u);
  for (std::size_t member = 0; member < 5; ++member)
    EXPECT_DOUBLE_EQ(chances[member], std::min(1.0, 5 * chance_of_place_sum(5, 9, sums[member]))) << member;
  EXPECT_LT(chances[3], 1e-4);
  EXPECT_TRUE(chances_of_members({}).empty());
}

}  // namespace
}  // namespace lockstep::analyzer
