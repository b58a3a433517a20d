// A rank that becomes late within the run.
#include "analyzer/lateness/late_since.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analyzer/lateness/test_reports.h"

namespace lockstep::analyzer {
namespace {

using Own = std::vector<std::vector<std::int64_t>>;

// Ranks whose noise has this standard deviation, as a share of a step; its memory from step to step.
Own noise_of(std::size_t ranks, std::size_t steps, double deviation, double memory, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> state(ranks);
  for (double& one : state) one = normal(random);
  Own own;
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<std::int64_t>& row = own.emplace_back();
    for (double& one : state) {
      one = memory * one + std::sqrt(1 - memory * memory) * normal(random);
      row.push_back(std::llround(1e6 * std::max(0.1, 1 + deviation * one)));
    }
  }
  return own;
}

std::vector<LateSince> since_of(const Own& own, Report& report) {
  report = report_of_steps(own, 100'000);
  return late_since(make_step_table(report), report);
}

TEST(LateSince, ItsFirstStepIsFound) {
  for (const std::size_t ranks : {2u, 4u, 16u}) {
    int found = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
      Own own = noise_of(ranks, 120, 0.02, 0, seed);
      const std::size_t first = 40 + seed;
      for (std::size_t step = first; step < own.size(); ++step) own[step][1] += 150'000;
      Report report;
      const std::vector<LateSince> since = since_of(own, report);
      if (since.size() != 1 || since[0].late.rank != 1) continue;
      ++found;
      EXPECT_NEAR(static_cast<double>(since[0].step), 100 + static_cast<double>(first), 3);
      EXPECT_NEAR(static_cast<double>(since[0].late.mean_ns), 150'000, 15'000);
      EXPECT_NEAR(static_cast<double>(since[0].before_ns), 0, 15'000);
      EXPECT_EQ(since[0].late.cause, Cause::compute);
      EXPECT_EQ(since[0].steps.steps.front(), since[0].step);
    }
    EXPECT_GE(found, 34) << ranks;
  }
}

// Seen of a rank that did something on its host from step 61 on, and of whose lateness the others' noise
// moved the beginning to step 69.
TEST(LateSince, ItBeginsWhereWhatItDoesLongerBegins) {
  Own own = noise_of(2, 120, 0.02, 0, 7);
  for (std::size_t step = 60; step < own.size(); ++step) own[step][1] += 150'000;
  for (std::size_t step = 60; step < 70; ++step)
    own[step][0] += 150'000;  // the other one is as late, by compute
  Report report = report_of_steps(own, 100'000);
  for (StepReport& step : report.steps) {
    if (step.rank != 1 || step.step < 160) continue;
    step.measures.partition[Cause::compute] -= 150'000;
    step.measures.partition[Cause::host_bound] = 150'000;
  }
  const std::vector<LateSince> since = late_since(make_step_table(report), report);
  ASSERT_EQ(since.size(), 1u);
  EXPECT_EQ(since[0].late.cause, Cause::host_bound);
  EXPECT_EQ(since[0].step, 160);
  EXPECT_EQ(since[0].steps.steps.front(), 160);
  EXPECT_FALSE(since[0].did_so_before);
}

TEST(LateSince, WhatItDidBeforeAsWellIsNoBeginning) {
  Own own = noise_of(2, 120, 0.02, 0, 7);
  for (std::size_t step = 0; step < own.size(); ++step) own[step][1] += 150'000;
  for (std::size_t step = 0; step < 40; ++step) own[step][0] += 150'000;
  Report report = report_of_steps(own, 100'000);
  for (StepReport& step : report.steps) {
    if (step.rank != 1) continue;
    step.measures.partition[Cause::compute] -= 150'000;
    step.measures.partition[Cause::host_bound] = 150'000;
  }
  const std::vector<LateSince> since = late_since(make_step_table(report), report);
  ASSERT_EQ(since.size(), 1u);
  EXPECT_NEAR(static_cast<double>(since[0].step), 140, 3);
  EXPECT_TRUE(since[0].did_so_before);
}

TEST(LateSince, HealthyRanksBecomeLateNever) {
  for (const std::size_t ranks : {2u, 4u, 8u}) {
    for (const std::size_t steps : {12u, 50u, 200u}) {
      for (const double memory : {0.0, 0.8}) {
        int accused = 0;
        for (unsigned seed = 0; seed < 100; ++seed) {
          Report report;
          accused += since_of(noise_of(ranks, steps, 0.1, memory, seed), report).empty() ? 0 : 1;
        }
        EXPECT_LE(accused, 1) << ranks << " ranks, " << steps << " steps, memory " << memory;
      }
    }
  }
}

TEST(LateSince, AlwaysIsNoBeginning) {
  Own own = noise_of(4, 100, 0.02, 0, 1);
  for (std::vector<std::int64_t>& row : own) row[1] += 150'000;
  Report report;
  EXPECT_TRUE(since_of(own, report).empty());
}

// Who was as much earlier before as it is later since has moved, and is not late.
TEST(LateSince, WhoWasEarlierBeforeIsUnsteady) {
  Own own = noise_of(4, 100, 0.02, 0, 1);
  for (std::size_t step = 0; step < 100; ++step) own[step][1] += step < 50 ? -100'000 : 100'000;
  Report report;
  EXPECT_TRUE(since_of(own, report).empty());
}

// Other ranks change as much at other times: that is how this job is.
TEST(LateSince, WhereRanksChangeUpAndDownNobodyIsSpecial) {
  Own own = noise_of(4, 100, 0.02, 0, 1);
  for (std::size_t step = 60; step < 100; ++step) own[step][1] += 100'000;
  Report report;
  ASSERT_EQ(since_of(own, report).size(), 1u);
  for (std::size_t step = 30; step < 90; ++step) own[step][2] += 100'000;
  EXPECT_TRUE(since_of(own, report).empty());
}

// Two ranks of a host that throttles change together, and both are said.
TEST(LateSince, RanksMayChangeTogether) {
  Own own = noise_of(8, 100, 0.02, 0, 1);
  for (std::size_t step = 50; step < 100; ++step) {
    own[step][4] += 150'000;
    own[step][5] += 150'000;
  }
  Report report;
  const std::vector<LateSince> since = since_of(own, report);
  ASSERT_EQ(since.size(), 2u);
  EXPECT_EQ(since[0].late.rank, 4);
  EXPECT_EQ(since[1].late.rank, 5);
}

TEST(LateSince, ShortRunsSayNothing) {
  for (const std::size_t steps : {0u, 1u, 3u, 7u}) {
    Report report;
    EXPECT_TRUE(since_of(noise_of(4, steps, 0.02, 0, 1), report).empty());
  }
}

}  // namespace
}  // namespace lockstep::analyzer
