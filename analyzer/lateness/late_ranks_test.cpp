#include "analyzer/lateness/late_ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analyzer/lateness/test_reports.h"
#include "analyzer/report/unsettled_lateness.h"

namespace lockstep::analyzer {
namespace {

LatenessReport judge(const Report& report) {
  return judge_lateness(make_step_table(report), report);
}

std::vector<std::int32_t> late_of(const LatenessReport& lateness) {
  std::vector<std::int32_t> late;
  for (const RankLateness& rank : lateness.ranks)
    if (rank.is_late) late.push_back(rank.rank);
  return late;
}

// `noise` is the standard deviation of what a rank does in a step, as a share of it. The noise of
// neighbouring steps is correlated by `memory`.
struct Simulation {
  std::size_t ranks = 4;
  std::size_t steps = 50;
  double noise = 0.02;
  double memory = 0;
  double slower = 0;  // rank 1, in all steps
};
Report simulate(const Simulation& simulation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> state(simulation.ranks);
  for (double& one : state) one = normal(random);
  std::vector<std::vector<std::int64_t>> own;
  for (std::size_t step = 0; step < simulation.steps; ++step) {
    std::vector<std::int64_t> row;
    for (std::size_t rank = 0; rank < simulation.ranks; ++rank) {
      state[rank] = simulation.memory * state[rank] +
                    std::sqrt(1 - simulation.memory * simulation.memory) * normal(random);
      const double factor = 1 + simulation.noise * state[rank] + (rank == 1 ? simulation.slower : 0);
      row.push_back(std::llround(1e6 * std::max(0.1, factor)));
    }
    own.push_back(row);
  }
  return report_of_steps(own, 100'000);
}

int count_accused(const Simulation& simulation, int runs) {
  int accused = 0;
  for (int seed = 0; seed < runs; ++seed)
    accused += late_of(judge(simulate(simulation, static_cast<unsigned>(seed)))).empty() ? 0 : 1;
  return accused;
}

// The level is 0.005 of a job. What chance allows of 100 jobs is stated for each memory: where neighbouring
// steps hang together much and there are few of them, their correlation is not known well.
TEST(LateRanks, HealthyRanksAreNotLate) {
  constexpr int kRuns = 100;
  for (const std::size_t ranks : {2u, 4u, 8u}) {
    for (const std::size_t steps : {12u, 20u, 60u, 200u}) {
      for (const double memory : {0.0, 0.5, 0.8}) {
        EXPECT_LE(count_accused({.ranks = ranks, .steps = steps, .noise = 0.1, .memory = memory}, kRuns),
                  memory > 0.5 ? 2 : 1)
            << ranks << " ranks, " << steps << " steps, memory " << memory;
      }
    }
  }
}

TEST(LateRanks, ARankThatIsSlowerByAFewPercentIs) {
  for (const std::size_t ranks : {2u, 4u, 16u}) {
    int found = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
      const LatenessReport lateness =
          judge(simulate({.ranks = ranks, .steps = 50, .noise = 0.02, .slower = 0.05}, seed));
      const bool is_it = late_of(lateness) == std::vector<std::int32_t>{1};
      found += is_it ? 1 : 0;
      if (!is_it) continue;
      const RankLateness& late = lateness.ranks[1];
      EXPECT_EQ(late.cause, Cause::compute);
      EXPECT_NEAR(static_cast<double>(late.mean_ns), 50'000, 15'000);
      EXPECT_NEAR(static_cast<double>(late.cause_ns), static_cast<double>(late.mean_ns), 15'000);
    }
    EXPECT_GE(found, 95) << ranks;
  }
}

TEST(LateRanks, ASmallDifferenceIsAFigureAndNothingElse) {
  const LatenessReport lateness = judge(simulate({.steps = 200, .noise = 0.001, .slower = 0.01}, 1));
  EXPECT_TRUE(lateness.can_tell);
  EXPECT_LT(lateness.ranks[1].chance, kLatenessLevel);
  EXPECT_NEAR(lateness.ranks[1].share, 0.01, 0.003);
  EXPECT_TRUE(late_of(lateness).empty());
}

TEST(LateRanks, TwoOfEightCanBeLateTogether) {
  std::vector<std::vector<std::int64_t>> own;
  std::mt19937 random(5);
  for (int step = 0; step < 40; ++step) {
    std::vector<std::int64_t> row(8);
    for (std::int64_t& ns : row) ns = 100'000 + static_cast<std::int64_t>(random() % 1000);
    row[2] += 10'000;
    row[5] += 10'000;
    own.push_back(row);
  }
  EXPECT_EQ(late_of(judge(report_of_steps(own))), (std::vector<std::int32_t>{2, 5}));
}

// Late by a great deal, but in the first third of the run alone.
TEST(LateRanks, LatenessThatGoesAwayIsNotPersistent) {
  std::vector<std::vector<std::int64_t>> own;
  for (int step = 0; step < 60; ++step)
    own.push_back({100'000, step < 20 ? 150'000 : 99'999, 100'000, 100'000});
  EXPECT_TRUE(late_of(judge(report_of_steps(own))).empty());
}

TEST(LateRanks, WithFewStepsNobodyCanTell) {
  for (const std::size_t steps : {0u, 1u, 3u, 5u}) {
    const LatenessReport lateness = judge(simulate({.steps = steps, .noise = 0, .slower = 0.5}, 1));
    EXPECT_FALSE(lateness.can_tell) << steps;
    EXPECT_TRUE(late_of(lateness).empty());
    EXPECT_EQ(lateness.steps_needed, steps == 0 ? 0 : 6);
  }
  EXPECT_TRUE(judge(simulate({.steps = 6, .noise = 0, .slower = 0.5}, 1)).can_tell);
  EXPECT_FALSE(judge(simulate({.ranks = 2, .steps = 9, .noise = 0, .slower = 0.5}, 1)).can_tell);
  EXPECT_TRUE(judge(simulate({.ranks = 2, .steps = 10, .noise = 0, .slower = 0.5}, 1)).can_tell);
}

TEST(LateRanks, WhatTheClocksLeaveOpenAccusesNobody) {
  Report report = simulate({.ranks = 2, .steps = 50, .noise = 0.002, .slower = 0.1}, 1);
  ASSERT_EQ(late_of(judge(report)), std::vector<std::int32_t>{1});
  report.ranks[1].clock.domain = 1;
  for (RankReport& rank : report.ranks) rank.clock.uncertainty_ns = 60'000;
  EXPECT_TRUE(late_of(judge(report)).empty());
}

// The steps that it says are needed suffice, for the jitter that it was seen with.
TEST(LateRanks, SaysHowManyStepsItWouldTake) {
  const LatenessReport noisy = judge(simulate({.ranks = 4, .steps = 50, .noise = 0.1}, 3));
  EXPECT_GT(noisy.steps_to_tell, 200);
  // Beside noise like this a part of it is lost in the median of the others.
  constexpr double kSlower = 0.0365;
  const LatenessReport long_run =
      judge(simulate({.ranks = 4, .steps = 20'000, .noise = 0.1, .slower = kSlower}, 1));
  EXPECT_NEAR(long_run.ranks[1].share, kLatenessToTell, 0.0015);
  const auto steps = static_cast<std::size_t>(noisy.steps_to_tell);
  int found = 0;
  for (unsigned seed = 0; seed < 40; ++seed)
    found +=
        late_of(judge(simulate({.ranks = 4, .steps = steps, .noise = 0.1, .slower = kSlower}, seed))).empty()
            ? 0
            : 1;
  EXPECT_GE(found, 36);
}

// And what it says would show in the steps that there are does.
TEST(LateRanks, SaysHowLateARankWouldHaveToBe) {
  for (const std::size_t ranks : {2u, 4u}) {
    for (const double noise : {0.05, 0.1}) {
      const LatenessReport healthy = judge(simulate({.ranks = ranks, .steps = 50, .noise = noise}, 3));
      const double shows = lateness_that_shows(healthy);
      EXPECT_GT(shows, kLatenessToTell);
      // A part of what it is slower by is lost in the median of the others, and the step is longer by it.
      double slower = shows, seen = 0;
      for (int tries = 0; tries < 20 && seen < shows; ++tries) {
        slower *= 1.05;
        seen = judge(simulate({.ranks = ranks, .steps = 20'000, .noise = noise, .slower = slower}, 1))
                   .ranks[1]
                   .share;
      }
      ASSERT_NEAR(seen, shows, 0.1 * shows);
      int found = 0;
      for (unsigned seed = 0; seed < 40; ++seed)
        found +=
            late_of(judge(simulate({.ranks = ranks, .steps = 50, .noise = noise, .slower = slower}, seed)))
                    .empty()
                ? 0
                : 1;
      EXPECT_GE(found, 36) << ranks << " ranks, noise " << noise << ": " << slower;
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer
