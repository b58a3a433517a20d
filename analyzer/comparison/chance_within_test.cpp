#include "analyzer/comparison/chance_within.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace lockstep::analyzer {
namespace {

constexpr auto kLower = Direction::lower_is_better;
constexpr Tolerance kTolerance{.relative = 0.03};

Sample runs_of(std::size_t runs, double deviation) {
  return {.runs = runs, .mean = 100, .deviation = deviation};
}

Excess unchanged(std::size_t runs, double deviation) {
  return excess_over(runs_of(runs, deviation), runs_of(runs, deviation), kLower, kTolerance);
}

TEST(ChanceWithin, IsThatOfRunsOfAProgramThatDidNotChange) {
  constexpr int kTrials = 20'000;
  std::mt19937 random(7);
  for (const auto& [runs, deviation] :
       std::vector<std::pair<std::size_t, double>>{{2, 0.5}, {3, 1}, {5, 1.5}}) {
    std::normal_distribution<double> normal(100, deviation);
    int within = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> head(runs), base(runs);
      for (double& value : head) value = normal(random);
      for (double& value : base) value = normal(random);
      const Excess seen = excess_over(sample_of(head), sample_of(base), kLower, kTolerance);
      within += zone_of(seen, chance_as_high(seen.beyond), 0.01, 0.95) == Zone::within ? 1 : 0;
    }
    EXPECT_NEAR(chance_within(unchanged(runs, deviation), 0.95), static_cast<double>(within) / kTrials, 0.03)
        << runs;
  }
}

TEST(ChanceWithin, FallsWithWhatRunsVaryBy) {
  double before = 1;
  for (const double times : {1.0, 2.0, 4.0, 8.0}) {
    const double chance = chance_within(unchanged(3, 0.5), 0.95, times);
    EXPECT_LT(chance, before) << times;
    before = chance;
  }
  EXPECT_EQ(chance_within(unchanged(3, 0), 0.95), 1);
  EXPECT_GT(chance_within(unchanged(10, 1), 0.95), chance_within(unchanged(3, 1), 0.95));
}

TEST(ChanceWithin, OfABoundAsWell) {
  EXPECT_GT(chance_within(excess_over(runs_of(3, 1), 120, kLower, {}), 0.95), 0.99);
  EXPECT_LT(chance_within(excess_over(runs_of(3, 1), 101, kLower, {}), 0.95), 0.5);
  EXPECT_LT(chance_within(excess_over(runs_of(3, 1), 90, kLower, {}), 0.95), 1e-6);
  EXPECT_EQ(chance_within(excess_over(runs_of(1, 0), 0, kLower, {}), 0.95), 0) << "counted, and beyond it";
}

TEST(MostTimesDeviation, IsMuchForFewRuns) {
  EXPECT_NEAR(most_times_deviation(2, 0.95), 15.95, 0.01);
  EXPECT_NEAR(most_times_deviation(3, 0.95), 4.415, 0.001);
  EXPECT_NEAR(most_times_deviation(10, 0.95), 1.645, 0.001);
}

}  // namespace
}  // namespace lockstep::analyzer
