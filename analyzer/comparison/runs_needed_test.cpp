#include "analyzer/comparison/runs_needed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "analyzer/comparison/zone.h"

namespace lockstep::analyzer {
namespace {

constexpr Sureness kAlone{.worse = 0.95, .within = 0.95};

Excess excess(const std::vector<double>& head, const std::vector<double>& base, double tolerance = 0) {
  return excess_over(sample_of(head), sample_of(base), Direction::lower_is_better, {.relative = tolerance});
}

std::optional<std::size_t> needed(const Excess& excess) {
  return runs_needed(excess, kAlone);
}

TEST(RunsNeeded, MoreForASmallerDifference) {
  const std::vector<double> base{99, 100, 101};
  const std::size_t far = *needed(excess({101, 102, 103}, base));
  const std::size_t near = *needed(excess({100, 101, 102}, base));
  EXPECT_LT(far, near);
  EXPECT_GE(far, 1U);
  EXPECT_FALSE(needed(excess({99, 100, 101}, base)));  // at the limit itself: any number is too few
}

TEST(RunsNeeded, NobodyKnowsWithoutASpread) {
  EXPECT_FALSE(needed(excess({101}, {100})));
  EXPECT_FALSE(chance_of_verdict(excess({101}, {100}), kAlone, 10));
  EXPECT_TRUE(chance_of_verdict(excess({101}, {99, 100, 101}), kAlone, 10));
}

TEST(RunsNeeded, AgainstABound) {
  const Sample head = sample_of(std::vector<double>{101, 102, 103});
  EXPECT_TRUE(needed(excess_over(head, 101, Direction::lower_is_better, {})));
  EXPECT_FALSE(needed(excess_over(head, 102, Direction::lower_is_better, {})));
}

TEST(RunsNeeded, TheChanceGrowsWithRuns) {
  const Excess figure = excess({100.5, 101.5, 102.5}, {99, 100, 101});
  double before = 0;
  for (std::size_t more = 1; more < 40; ++more) {
    const double chance = *chance_of_verdict(figure, kAlone, more);
    EXPECT_GE(chance, before - 1e-9) << more;
    before = chance;
  }
  EXPECT_GT(before, 0.8);
}

TEST(RunsNeeded, ToBeWorseAmongSeveralTakesMore) {
  const Sureness among = sureness_among(0.01, 0.95, 1.0 / 20);
  EXPECT_DOUBLE_EQ(among.worse, 0.9995);
  EXPECT_DOUBLE_EQ(among.within, 0.95);
  const Excess worse = excess({101, 102, 103}, {99, 100, 101}), within = excess({97, 98, 99}, {99, 100, 101});
  const Sureness alone = sureness_among(0.01, 0.95, 1);
  EXPECT_LT(*runs_needed(worse, alone), *runs_needed(worse, among));
  EXPECT_LE(*runs_needed(within, among), *runs_needed(within, alone) + 1) << "nothing is corrected there";
}

struct Settled {
  int left_open = 0, decided = 0;
};

// Healthy and slower programs in equal parts, three runs a side, one of so many figures whose others are
// healthy. To those not decided as many runs are added as it says.
Settled settled_by_the_runs_needed(double false_alarms, double figures) {
  constexpr double kConfidence = 0.95;
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> effect(-0.06, 0.06);
  Settled settled;
  for (int trial = 0; trial < 3000; ++trial) {
    const double slower = effect(random);
    std::vector<double> head, base;
    const auto run = [&](std::size_t runs) {
      for (std::size_t i = 0; i < runs; ++i) {
        head.push_back(100 * (1 + slower) + normal(random));
        base.push_back(100 + normal(random));
      }
    };
    const auto zone = [&] {
      const Excess now = excess(head, base, 0.02);
      return zone_of(now, std::min(1.0, figures * *chance_as_high(now.beyond)), false_alarms, kConfidence);
    };
    run(3);
    if (zone() != Zone::undecided) continue;
    const std::optional<std::size_t> more =
        runs_needed(excess(head, base, 0.02), sureness_among(false_alarms, kConfidence, 1 / figures));
    if (!more) continue;
    ++settled.left_open;
    run(*more);
    settled.decided += zone() != Zone::undecided ? 1 : 0;
  }
  return settled;
}

TEST(RunsNeeded, DecideNineOfTen) {
  const Settled alone = settled_by_the_runs_needed(0.05, 1);
  EXPECT_GT(alone.left_open, 300);
  EXPECT_GT(alone.decided, 0.88 * alone.left_open);
}

// As if each figure were alone, three of four would be.
TEST(RunsNeeded, DecideNineOfTenOfOneAmongTwenty) {
  const Settled among = settled_by_the_runs_needed(0.01, 20);
  EXPECT_GT(among.left_open, 300);
  EXPECT_GT(among.decided, 0.88 * among.left_open);
}

}  // namespace
}  // namespace lockstep::analyzer
