#include "analyzer/metrics/counter_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

Job job_with(std::vector<CounterPoint> points, std::vector<StepMark> steps,
             const char* name = "page faults minor (per s)") {
  Job job;
  job.ranks.emplace_back();
  job.ranks[0].counters.push_back({name, std::move(points)});
  job.ranks[0].steps = std::move(steps);
  return job;
}

std::vector<CounterReport> all_steps(const Job& job) {
  return summarise_counters(job, [](std::optional<std::int64_t>) { return true; });
}

// 10 a second in [1 s, 2 s), 30 in [2 s, 3 s).
TEST(Counters, ARateIsCountedPerStep) {
  const Job job = job_with(
      {{kSecond, 0}, {2 * kSecond, 10}, {3 * kSecond, 30}},
      {{4, 0, 3 * kSecond / 2}, {5, 3 * kSecond / 2, 5 * kSecond / 2}, {6, 5 * kSecond / 2, 9 * kSecond}});
  const auto counters = all_steps(job);
  ASSERT_EQ(counters.size(), 1U);
  ASSERT_EQ(counters[0].per_step.size(), 3U);
  EXPECT_EQ(counters[0].per_step[0].step, 4);
  EXPECT_DOUBLE_EQ(counters[0].per_step[0].amount, 5);
  EXPECT_DOUBLE_EQ(counters[0].per_step[1].amount, 5 + 15);
  EXPECT_DOUBLE_EQ(counters[0].per_step[2].amount, 15);
  EXPECT_EQ(counters[0].max, 30);
}

TEST(Counters, WhatIsNoRateHasNoAmounts) {
  const Job job =
      job_with({{kSecond, 7}, {2 * kSecond, 10}}, {{1, 0, 5 * kSecond}}, "memory resident (bytes)");
  EXPECT_TRUE(all_steps(job).at(0).per_step.empty());
}

TEST(Counters, OnlySelectedSteps) {
  const Job job = job_with({{0, 0}, {kSecond, 8}}, {{1, 0, kSecond / 2}, {2, kSecond / 2, kSecond}});
  const auto counters = summarise_counters(job, [](std::optional<std::int64_t> step) { return step == 2; });
  ASSERT_EQ(counters.at(0).per_step.size(), 1U);
  EXPECT_EQ(counters[0].per_step[0].step, 2);
  EXPECT_DOUBLE_EQ(counters[0].per_step[0].amount, 4);
}

TEST(Counters, PointsThatAreNotFiniteAreLeftOut) {
  const Job job = job_with({{0, 0},
                            {kSecond, std::numeric_limits<double>::quiet_NaN()},
                            {2 * kSecond, 4},
                            {3 * kSecond, std::numeric_limits<double>::infinity()}},
                           {{1, 0, 3 * kSecond}});
  EXPECT_DOUBLE_EQ(all_steps(job).at(0).per_step.at(0).amount, 8);
}

// Beside a slow sum over milliseconds.
TEST(Counters, AmountsAreWhatACountOfMillisecondsGives) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    constexpr int kEnd = 2000;  // ms
    std::vector<double> rate(kEnd, 0.0);
    std::vector<CounterPoint> points;
    int at = static_cast<int>(random() % 100);
    points.push_back({at * 1'000'000LL, 0});
    while (at < kEnd - 200) {
      const int next = at + 1 + static_cast<int>(random() % 150);
      const double value = random() % 1000;
      for (int t = at; t < next; ++t) rate[static_cast<std::size_t>(t)] = value;
      points.push_back({next * 1'000'000LL, value});
      at = next;
    }
    std::vector<StepMark> steps;
    int begin = 0;
    for (std::int64_t number = 0; begin < kEnd; ++number) {
      const int end = std::min(kEnd, begin + 1 + static_cast<int>(random() % 400));
      steps.push_back({number, begin * 1'000'000LL, end * 1'000'000LL});
      begin = end;
    }
    const auto counters = all_steps(job_with(points, steps));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      double sum = 0;
      for (std::int64_t t = steps[i].begin / 1'000'000; t < steps[i].end / 1'000'000; ++t)
        sum += rate[static_cast<std::size_t>(t)] / 1000;
      EXPECT_NEAR(counters.at(0).per_step.at(i).amount, sum, 1e-6);
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer
