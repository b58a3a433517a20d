// How often the gate is wrong, and how often it finds what is there: simulated runs whose truth is known, the
// same in every run of this test. docs/statistics.md has the table.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analyzer/comparison/pairs.h"
#include "analyzer/comparison/zone.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kLower = Direction::lower_is_better;

std::vector<double> runs_of(std::size_t runs, double mean, double deviation, std::mt19937& random) {
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<double> values;
  for (std::size_t i = 0; i < runs; ++i) values.push_back(normal(random));
  return values;
}

Zone zone(const Excess& excess, double confidence) {
  return zone_of(excess, chance_as_high(excess.beyond), 1 - confidence, confidence);
}

double share_called_worse(std::size_t runs, double slower, double deviation, const Tolerance& tolerance,
                          int trials) {
  std::mt19937 random(17);
  int worse = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Sample base = sample_of(runs_of(runs, 100, deviation, random));
    const Sample head = sample_of(runs_of(runs, 100 * (1 + slower), deviation, random));
    worse += zone(excess_over(head, base, kLower, tolerance), 0.95) == Zone::worse ? 1 : 0;
  }
  return static_cast<double>(worse) / trials;
}

TEST(ErrorRates, FalseAlarmsStayBelowWhatIsPromised) {
  for (const std::size_t runs : {2U, 3U, 5U, 10U})
    EXPECT_LT(share_called_worse(runs, 0, 1, {}, 8000), 0.055) << runs;
  // At the limit itself, which is the worst case of a tolerance.
  EXPECT_LT(share_called_worse(5, 0.03, 1, {.relative = 0.03}, 8000), 0.055);
  EXPECT_LT(share_called_worse(5, 0, 1, {.relative = 0.03}, 8000), 0.001);
}

TEST(ErrorRates, ThreeRunsASideFindFivePercent) {
  EXPECT_GT(share_called_worse(3, 0.05, 1, {}, 4000), 0.95);
}

// What `look` says after each pair; stops at the first verdict.
double share_of_pairs(double slower, double deviation, Zone wanted, const Tolerance& tolerance,
                      std::size_t limit) {
  std::mt19937 random(23);
  std::normal_distribution<double> shared(0, 25), own(0, deviation / std::sqrt(2.0));
  const std::vector<double> parts = spending(limit);
  constexpr int kTrials = 8000;
  int found = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<RunPair> pairs;
    for (std::size_t at = 0; at < limit; ++at) {
      const double machine = shared(random);
      pairs.push_back({100 * (1 + slower) + machine + own(random), 100 + machine + own(random)});
      if (at == 0) continue;
      const Zone seen = zone(excess_of_pairs(pairs, kLower, tolerance), 1 - 0.05 * parts[at - 1]);
      if (seen == Zone::undecided) continue;
      found += seen == wanted ? 1 : 0;
      break;
    }
  }
  return static_cast<double>(found) / kTrials;
}

TEST(ErrorRates, PairsKeepTheRateThoughTheyAreLookedAtAgainAndAgain) {
  for (const std::size_t limit : {2U, 3U, 5U, 10U})
    EXPECT_LT(share_of_pairs(0, 2, Zone::worse, {}, limit), 0.055) << limit;
}

TEST(ErrorRates, FivePairsFindFivePercentAtTwoPercent) {
  EXPECT_GT(share_of_pairs(0.05, 2, Zone::worse, {}, 5), 0.9);
}

// Pooling the steps of runs, which is what the unit of a run is there to avoid, alarms three times as often
// as promised.
TEST(ErrorRates, StepsPooledWouldAlarmTooOften) {
  std::mt19937 random(29);
  int pooled = 0, by_run = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> steps[2], means[2];
    for (int side = 0; side < 2; ++side) {
      for (int run = 0; run < 3; ++run) {
        std::vector<double> of_run = runs_of(20, std::normal_distribution<double>(100, 1)(random), 2, random);
        means[side].push_back(sample_of(of_run).mean);
        steps[side].insert(steps[side].end(), of_run.begin(), of_run.end());
      }
    }
    pooled +=
        zone(excess_over(sample_of(steps[0]), sample_of(steps[1]), kLower, {}), 0.95) == Zone::worse ? 1 : 0;
    by_run +=
        zone(excess_over(sample_of(means[0]), sample_of(means[1]), kLower, {}), 0.95) == Zone::worse ? 1 : 0;
  }
  EXPECT_GT(pooled, 0.12 * kTrials);
  EXPECT_LT(by_run, 0.06 * kTrials);
}

}  // namespace
}  // namespace lockstep::analyzer
