#include "analyzer/statistics/signed_ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace lockstep::analyzer {
namespace {

// All 2^count outcomes, one after the other.
double chance_by_counting(std::size_t count, std::int64_t sum) {
  std::size_t reached = 0;
  for (std::size_t outcome = 0; outcome < (std::size_t{1} << count); ++outcome) {
    std::int64_t total = 0;
    for (std::size_t place = 0; place < count; ++place)
      if ((outcome >> place & 1u) != 0) total += static_cast<std::int64_t>(place + 1);
    reached += total <= sum ? 1 : 0;
  }
  return static_cast<double>(reached) / static_cast<double>(std::size_t{1} << count);
}

TEST(SignedRanks, TheirChanceIsThatOfCountingAllOutcomes) {
  for (std::size_t count = 0; count <= 10; ++count)
    for (std::int64_t sum = -1; sum <= static_cast<std::int64_t>(count * (count + 1) / 2) + 1; ++sum)
      EXPECT_NEAR(chance_of_signed_ranks(count, sum), chance_by_counting(count, sum), 1e-12)
          << count << " blocks, sum " << sum;
}

TEST(SignedRanks, SumThePlacesOfWhatGoesTheWrongWay) {
  EXPECT_EQ(signed_rank_sum(std::vector<double>{3, 1, 2}), 0);
  EXPECT_EQ(signed_rank_sum(std::vector<double>{3, -1, 2}), 1);
  EXPECT_EQ(signed_rank_sum(std::vector<double>{-3, 1, -2}), 3 + 2);
  // Ties and zeros speak against.
  EXPECT_EQ(signed_rank_sum(std::vector<double>{2, -2, 5}), 2);
  EXPECT_EQ(signed_rank_sum(std::vector<double>{0, 1, 2}), 1);
  EXPECT_EQ(signed_rank_sum(std::vector<double>{}), 0);
}

// Skewed as a burst is: of neither sign more than of the other.
TEST(SignedRanks, KeepTheirLevelOnBurstyNoise) {
  std::mt19937 random(11);
  constexpr double kLevel = 0.05;
  constexpr int kTrials = 4000;
  std::lognormal_distribution<double> bursts(0, 2);
  int reached = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> differences(12), mirrored(12);
    for (std::size_t i = 0; i < differences.size(); ++i) {
      differences[i] = bursts(random) - bursts(random);
      mirrored[i] = -differences[i];
    }
    for (const std::vector<double>& one : {differences, mirrored})
      if (2 * chance_of_signed_ranks(one.size(), signed_rank_sum(one)) <= kLevel) {
        ++reached;
        break;
      }
  }
  EXPECT_LE(reached, kTrials * kLevel + 3 * std::sqrt(kTrials * kLevel * (1 - kLevel)));
  EXPECT_GT(reached, kTrials * kLevel / 2);
}

}  // namespace
}  // namespace lockstep::analyzer
