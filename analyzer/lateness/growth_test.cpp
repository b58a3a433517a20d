// A rank that comes later and later, and what only varies.
#include "analyzer/lateness/growth.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "analyzer/lateness/test_reports.h"

namespace lockstep::analyzer {
namespace {

// Of rank 1 of three, which is late by so much in each step.
std::optional<Growth> growth_in(int steps, const std::function<std::int64_t(int)>& late_ns) {
  std::vector<std::vector<std::int64_t>> own;
  for (int step = 0; step < steps; ++step) own.push_back({10'000, 10'000 + late_ns(step), 10'000});
  const Report report = report_of_steps(own);
  return growth_of(make_step_table(report), 1, std::nullopt);
}

TEST(Growth, IsToldByTheFirstAndTheLastThird) {
  const auto growth = growth_in(30, [](int step) { return 100 * step; });
  ASSERT_TRUE(growth.has_value());
  EXPECT_EQ(growth->first_third_ns, 400);  // the lower median of 0 to 900
  EXPECT_EQ(growth->last_third_ns, 2400);
}

TEST(Growth, OfAConstantLatenessThereIsNone) {
  EXPECT_FALSE(growth_in(30, [](int) { return 1000; }).has_value());
  EXPECT_FALSE(growth_in(30, [](int step) { return 1000 + step; }).has_value()) << "no half as much again";
}

TEST(Growth, OneThatFallsOrRisesOnceAndFallsIsNone) {
  EXPECT_FALSE(growth_in(30, [](int step) { return 3000 - 100 * step; }).has_value());
  EXPECT_FALSE(growth_in(30, [](int step) { return step == 29 ? 9000 : 1000; }).has_value());
  EXPECT_FALSE(growth_in(36, [](int step) { return step % 12 * 100 + (step > 30 ? 2000 : 0); }).has_value());
}

// Seen of a file read in every step, for as long, while other programs made the rank later and later.
TEST(Growth, IsThatOfTheCauseWhereItIsKnown) {
  const auto growth_with = [](std::int64_t host_grows, std::int64_t compute_grows) {
    std::vector<std::vector<std::int64_t>> own;
    for (int step = 0; step < 30; ++step) own.push_back({10'000, 12'000 + step * compute_grows, 10'000});
    Report report = report_of_steps(own);
    for (StepReport& step : report.steps)
      if (step.rank == 1) step.measures.partition[Cause::host_bound] = 2'000 + (step.step - 100) * host_grows;
    return growth_of(make_step_table(report), 1, Cause::host_bound);
  };
  EXPECT_FALSE(growth_with(0, 300).has_value());
  const auto growth = growth_with(200, 300);
  ASSERT_TRUE(growth.has_value());
  EXPECT_EQ(growth->first_third_ns, 2'000 + 4 * 200);
  EXPECT_FALSE(growth_with(200, 0).has_value()) << "nobody waits longer for it";
}

TEST(Growth, FewStepsTellNothing) {
  EXPECT_TRUE(growth_in(9, [](int step) { return 100 * step; }).has_value());
  EXPECT_FALSE(growth_in(8, [](int step) { return 100 * step; }).has_value());
}

TEST(Growth, ByChanceItIsRare) {
  std::mt19937_64 random(20261130);
  std::exponential_distribution<double> noise(1.0 / 1000);
  int told = 0;
  for (int run = 0; run < 1000; ++run)
    told += growth_in(30, [&](int) { return static_cast<std::int64_t>(noise(random)); }).has_value() ? 1 : 0;
  EXPECT_LE(told, 33);
}

}  // namespace
}  // namespace lockstep::analyzer
