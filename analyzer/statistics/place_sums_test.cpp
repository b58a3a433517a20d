#include "analyzer/statistics/place_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace lockstep::analyzer {
namespace {

// All members^blocks outcomes, one after the other.
double chance_by_counting(std::size_t members, std::size_t blocks, std::int64_t sum) {
  std::size_t outcomes = 1;
  for (std::size_t i = 0; i < blocks; ++i) outcomes *= members;
  std::size_t reached = 0;
  for (std::size_t outcome = 0; outcome < outcomes; ++outcome) {
    std::int64_t total = 0;
    for (std::size_t rest = outcome, i = 0; i < blocks; ++i, rest /= members)
      total += static_cast<std::int64_t>(rest % members);
    reached += total >= sum ? 1 : 0;
  }
  return static_cast<double>(reached) / static_cast<double>(outcomes);
}

TEST(PlaceSums, TheirChanceIsThatOfCountingAllOutcomes) {
  for (std::size_t members = 2; members <= 5; ++members) {
    for (std::size_t blocks = 1; blocks <= 6; ++blocks) {
      const auto highest = static_cast<std::int64_t>(blocks * (members - 1));
      for (std::int64_t sum = 0; sum <= highest + 1; ++sum)
        EXPECT_NEAR(chance_of_place_sum(members, blocks, sum), chance_by_counting(members, blocks, sum),
                    1e-12)
            << members << " members, " << blocks << " blocks, sum " << sum;
    }
  }
}

TEST(PlaceSums, HighestInAllOfTenBlocksOfTwoIsOneInAThousand) {
  EXPECT_DOUBLE_EQ(chance_of_place_sum(2, 10, 10), 1.0 / 1024);
  // A great many members: the tail is accurate where it is tiny.
  EXPECT_NEAR(chance_of_place_sum(512, 10, 10 * 511) / std::pow(512.0, -10), 1, 1e-9);
}

TEST(PlaceSums, CountWhoLiesBelowAndTiesShareTheLowerPlace) {
  const std::vector<std::vector<double>> values{{3, 1, 2}, {5, 5, 0}};
  EXPECT_EQ(place_sums(values), (std::vector<std::int64_t>{2 + 1, 0 + 1, 1 + 0}));
}

// However skewed and autocorrelated the values are, as long as nobody is special.
TEST(PlaceSums, KeepTheirLevelOnBurstyNoise) {
  std::mt19937 random(7);
  constexpr double kLevel = 0.05;
  constexpr int kTrials = 2000;
  constexpr std::size_t kMembers = 4, kCount = 10;
  int reached = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> values(kCount, std::vector<double>(kMembers));
    std::lognormal_distribution<double> bursts(0, 2);
    for (std::vector<double>& block : values) {
      const double drift = bursts(random);  // of all members
      for (double& value : block) value = drift + bursts(random);
    }
    for (const std::int64_t sum : place_sums(values))
      if (chance_of_place_sum(kMembers, kCount, sum) * kMembers <= kLevel) {
        ++reached;
        break;
      }
  }
  // Three standard deviations above the level.
  EXPECT_LE(reached, kTrials * kLevel + 3 * std::sqrt(kTrials * kLevel * (1 - kLevel)));
  EXPECT_GT(reached, 0);
}

TEST(Blocks, AreAsManyAsWantedOrAFewMoreAndHoldAll) {
  for (std::size_t count = 1; count < 300; ++count) {
    for (const std::size_t wanted : {1u, 4u, 10u}) {
      const Blocks blocks = cut_into_blocks(count, wanted);
      ASSERT_GE(blocks.count, std::min(count, wanted)) << count;
      ASSERT_LT(blocks.count, 2 * wanted) << count;
      EXPECT_EQ(blocks.begin(0), 0u);
      for (std::size_t block = 0; block + 1 < blocks.count; ++block)
        EXPECT_EQ(blocks.end(block, count), blocks.begin(block + 1));
      EXPECT_EQ(blocks.end(blocks.count - 1, count), count);
    }
  }
  EXPECT_EQ(cut_into_blocks(0, 10).count, 0u);
  EXPECT_EQ(cut_into_blocks(10, 0).count, 0u);
}

TEST(Blocks, NeededAreThoseThatGoBeyondChance) {
  for (std::size_t members : {2, 3, 4, 8, 64, 512}) {
    const std::size_t needed = blocks_needed(members, 0.002);
    const auto all_highest = [&](std::size_t blocks) {
      return static_cast<double>(members) *
             chance_of_place_sum(members, blocks, static_cast<std::int64_t>(blocks * (members - 1)));
    };
    EXPECT_LE(all_highest(needed), 0.002 * (1 + 1e-9)) << members;
    EXPECT_GT(all_highest(needed - 1), 0.002) << members;
  }
  EXPECT_EQ(blocks_needed(2, 0.002), 10u);
}

}  // namespace
}  // namespace lockstep::analyzer
