// A rank that is late at regular intervals, and those that only seem to be.
#include "analyzer/lateness/periodic_lateness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analyzer/lateness/test_reports.h"

namespace lockstep::analyzer {
namespace {

// In each step rank 1 of four is late by this much.
std::optional<PeriodicLateness> of(const std::vector<std::int64_t>& late) {
  std::vector<std::vector<std::int64_t>> own;
  for (const std::int64_t ns : late) own.push_back({1000, 1000 + ns, 1000, 1000});
  const Report report = report_of_steps(own);
  return periodic_lateness(make_step_table(report));
}

TEST(PeriodicLateness, IsOnePeriodFromStepToStep) {
  const auto found = of({0, 0, 90, 3, 0, 0, 100, 0, 0, 0, 80, 5});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->period, 4);
  EXPECT_EQ(found->first, 102);
  EXPECT_EQ(found->worst, 106);
  EXPECT_EQ(found->times, 3);
  EXPECT_EQ(found->late_ns, 90);
  EXPECT_EQ(found->otherwise_ns, 0);
}

// Of a program that does it `if step % 4 == 2 and step > 2`: what it costs each time is not made less by the
// step in which it does not.
TEST(PeriodicLateness, TellsOfTheStepsInWhichTheRankWasLate) {
  std::vector<std::int64_t> late(40, 0);
  for (std::size_t step = 6; step < late.size(); step += 4) late[step] = 100;
  const auto found = of(late);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->first, 106);
  EXPECT_EQ(found->times, 9);
  EXPECT_EQ(found->steps.steps.size(), 9U);
}

TEST(PeriodicLateness, TwiceIsChance) {
  EXPECT_FALSE(of({0, 100, 0, 0, 100, 0, 0}).has_value());
}

TEST(PeriodicLateness, EveryStepIsPersistent) {
  EXPECT_FALSE(of({100, 100, 100, 100}).has_value());
}

TEST(PeriodicLateness, IrregularIntervalsAreNone) {
  EXPECT_FALSE(of({100, 0, 0, 100, 0, 0, 0, 100, 0, 0, 100, 0}).has_value());
}

TEST(PeriodicLateness, ARhythmThatBeginsOrEndsWithinTheRecordingIsNone) {
  EXPECT_FALSE(of({0, 0, 0, 0, 0, 100, 0, 100, 0, 100, 0, 100}).has_value())
      << "steps 101 would have been late";
  EXPECT_FALSE(of({100, 0, 100, 0, 100, 0, 100, 0, 0, 0, 0, 0}).has_value());
}

TEST(PeriodicLateness, LatenessBetweenMakesItNone) {
  EXPECT_FALSE(of({40, 40, 100, 40, 40, 100, 40, 40, 100, 40, 40, 100}).has_value());
}

// Another rank as late as this one, once: then such steps come by chance.
TEST(PeriodicLateness, IsOfOneRankAlone) {
  std::vector<std::vector<std::int64_t>> own(12, {1000, 1000, 1000, 1000});
  for (const std::size_t step : {2u, 6u, 10u}) own[step][1] = 1100;
  const Report alone = report_of_steps(own);
  ASSERT_TRUE(periodic_lateness(make_step_table(alone)).has_value());
  own[4][3] = 1090;
  const Report both = report_of_steps(own);
  EXPECT_FALSE(periodic_lateness(make_step_table(both)).has_value());
}

TEST(PeriodicLateness, RanksThatAreLongerOneAfterTheOtherTakeTurns) {
  std::vector<std::vector<std::int64_t>> own(24, {1000, 1000, 1000, 1000});
  for (std::size_t step = 0; step < own.size(); ++step) own[step][step % 4] = 1100;
  EXPECT_FALSE(periodic_lateness(make_step_table(report_of_steps(own))).has_value());
}

// Each of two ranks once in five steps, one behind the last collective of step 2, the other one behind that
// of step 3: the others wait for the first one in step 3.
TEST(PeriodicLateness, RanksThatAreLongerInNeighbouringStepsTakeTurns) {
  const auto found_in = [](bool both) {
    Report report = report_of_steps(std::vector<std::vector<std::int64_t>>(40, {1000, 1000}));
    for (StepReport& row : report.steps) {
      Measures& measures = row.measures;
      const auto place = row.step % 5;
      if ((row.rank == 0 && both && place == 2) || (row.rank == 1 && place == 3)) {
        measures.partition[Cause::compute] += 200;
        measures.window_ns += 200;
      }
      if ((row.rank == 1 && both && place == 3) || (row.rank == 0 && place == 4)) {
        measures.partition[Cause::barrier_wait] += 200;
        measures.window_ns += 200;
      }
    }
    return periodic_lateness(make_step_table(report)).has_value();
  };
  EXPECT_FALSE(found_in(true));
  EXPECT_TRUE(found_in(false));
}

// Two ranks have more to do in turn, by amounts that differ from step to step: noise may make every other
// turn of one of them stand out, and no rank is to blame.
TEST(PeriodicLateness, RanksThatAlternateAreNotLateEveryFourSteps) {
  const auto found_in = [](bool alternate, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto upto = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    };
    std::vector<std::vector<std::int64_t>> own;
    for (std::size_t step = 0; step < 60; ++step) {
      own.push_back({1000 + upto(150), 1000 + upto(150)});
      if (alternate)
        own.back()[step % 2] += 100 + upto(step % 4 < 2 ? 300 : 500);
      else if (step % 4 == 2)
        own.back()[0] += 300 + upto(100);
    }
    return periodic_lateness(make_step_table(report_of_steps(own))).has_value();
  };
  int accused = 0, found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    accused += found_in(true, seed);
    found += found_in(false, seed);
  }
  EXPECT_EQ(accused, 0);
  EXPECT_GE(found, 190) << "of one rank that does more every four steps";
}

// Of two ranks and few steps, three late steps can be periodic by chance.
TEST(PeriodicLateness, HasToBeBeyondChance) {
  std::vector<std::vector<std::int64_t>> own(12, {1000, 1000});
  for (const std::size_t step : {2u, 6u, 10u}) own[step][1] = 1100;
  const Report report = report_of_steps(own);
  EXPECT_FALSE(periodic_lateness(make_step_table(report)).has_value());
}

// In each tenth step rank 1 does something that ends after the last collective of its step: the others wait
// for it in the next one.
TEST(PeriodicLateness, MayShowInTheNextStep) {
  Report report = report_of_steps(std::vector<std::vector<std::int64_t>>(50, {1000, 1000, 1000}));
  for (StepReport& row : report.steps) {
    Measures& measures = row.measures;
    const auto place = row.step % 10;
    if (row.rank == 1 && place == 5) {
      measures.partition[Cause::compute] += 200;
      measures.window_ns += 200;
    } else if (row.rank != 1 && place == (row.step % 20 == 5 ? 5 : 6)) {
      measures.partition[Cause::barrier_wait] += 200;
      measures.window_ns += 200;
    }
  }
  // Half of the time in the same step: then rank 1 waits 200 less in 105, 125, 145.
  const auto found = periodic_lateness(make_step_table(report));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->period, 10);
  EXPECT_EQ(found->first, 105);
  EXPECT_EQ(found->late_ns, 200);
}

// Among noise that is sometimes as long, once in ten steps stands out of a run of fifty.
TEST(PeriodicLateness, IsFoundAmongNoise) {
  int found = 0, wrong = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    std::exponential_distribution<double> noise(1 / 30.0);
    std::vector<std::vector<std::int64_t>> own(50, std::vector<std::int64_t>(4));
    for (std::size_t step = 0; step < own.size(); ++step)
      for (std::size_t rank = 0; rank < 4; ++rank)
        own[step][rank] = 1000 + std::llround(noise(random)) + (rank == 2 && step % 10 == 3 ? 200 : 0);
    const Report report = report_of_steps(own);
    const auto periodic = periodic_lateness(make_step_table(report));
    const bool is_it = periodic && periodic->rank == 2 && periodic->period == 10;
    found += is_it ? 1 : 0;
    wrong += periodic && !is_it ? 1 : 0;
  }
  EXPECT_GE(found, 75);
  EXPECT_EQ(wrong, 0);
}

TEST(PeriodicLateness, IsNotInNoiseAlone) {
  int found = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    std::lognormal_distribution<double> noise(3, 1);
    std::vector<std::vector<std::int64_t>> own(30 + seed % 40, std::vector<std::int64_t>(2 + seed % 4));
    for (auto& step : own)
      for (std::int64_t& ns : step) ns = 1000 + std::llround(noise(random));
    const Report report = report_of_steps(own);
    found += periodic_lateness(make_step_table(report)) ? 1 : 0;
  }
  EXPECT_LE(found, 3);  // 1 of 500
}

// All ranks write a checkpoint once in ten steps, and somebody is last: five times the same of two is chance.
TEST(PeriodicLateness, WhatAllDoIsNobodys) {
  std::vector<std::vector<std::int64_t>> own(50, {1000, 1000});
  for (std::size_t step = 5; step < 50; step += 10) own[step] = {3000, 3500};
  const Report report = report_of_steps(own);
  EXPECT_FALSE(periodic_lateness(make_step_table(report)).has_value());
  for (std::size_t step = 5; step < 50; step += 10) own[step] = {1000, 1500};
  const Report alone = report_of_steps(own);
  EXPECT_TRUE(periodic_lateness(make_step_table(alone)).has_value());
}

}  // namespace
}  // namespace lockstep::analyzer
