// How ranks differ in a quantity, step by step.
#include "analyzer/diagnose/cell_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::analyzer {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsNan;

StepTable table_of(std::size_t ranks, std::size_t steps) {
  StepTable table;
  for (std::size_t rank = 0; rank < ranks; ++rank) table.ranks.push_back(static_cast<std::int32_t>(rank));
  for (std::size_t step = 0; step < steps; ++step) table.steps.push_back(static_cast<std::int64_t>(step));
  return table;
}

TEST(CellStatistics, WhatAStepOrARankHasInCommonDoesNotCount) {
  // Step 1 is 100 longer for all; rank 2 is 6 above the others, and in step 1 by 2 more.
  EXPECT_THAT(deviations_in_turn(table_of(3, 2), {1, 1, 7, 101, 101, 109}), ElementsAre(0, 0, 0, 0, 0, 2));
}

TEST(CellStatistics, WhatIsNotKnownCountsNowhere) {
  const std::vector<double> values{1, kUnknownAmount, 3, kUnknownAmount, 5, 9};
  EXPECT_THAT(deviations_in_turn(table_of(2, 3), values), ElementsAre(0, IsNan(), 0, IsNan(), 0, 0));
  EXPECT_EQ(median_of_others({1, kUnknownAmount, 5, 100}, 3), 3) << "between the two in the middle";
  EXPECT_EQ(median_of_others({1, 2, 5, 100}, 3), 2);
  EXPECT_THAT(median_of_others({1, kUnknownAmount}, 0), IsNan());
}

TEST(CellStatistics, TwoCellsOfManyDoNotMakeBothCorrelations) {
  const StepTable table = table_of(2, 50);
  std::vector<double> few(100), often(100), time(100);
  for (std::size_t cell = 0; cell < 100; ++cell) {
    const std::size_t step = cell / 2, rank = cell % 2;
    time[cell] = 100 + static_cast<double>(cell * 37 % 11);
    few[cell] = rank == 0 && (step == 20 || step == 40) ? 9 : 0;
    often[cell] = (step * 7 + rank * 3) % 4 < 2 ? 1 : 2;
    time[cell] += few[cell] > 0 ? 200 : 0;
  }
  const Correlation by_two = correlation_in_turn(table, few, time);
  EXPECT_GT(by_two.of_values, 0.9);
  EXPECT_LT(by_two.of_ranks, 0.4);
  for (std::size_t cell = 0; cell < 100; ++cell) time[cell] += 40 * often[cell] - (few[cell] > 0 ? 200 : 0);
  const Correlation by_all = correlation_in_turn(table, often, time);
  EXPECT_GT(by_all.of_values, 0.7);
  EXPECT_GT(by_all.of_ranks, 0.7);
}

TEST(CellStatistics, OneThatDoesNotVaryGoesWithNothing) {
  const Correlation none = correlation_in_turn(table_of(2, 2), {1, 1, 1, 1}, {1, 2, 5, 4});
  EXPECT_EQ(none.of_values, 0);
  EXPECT_EQ(none.of_ranks, 0);
}

TEST(CellStatistics, ARankStandsBesideTheOthersByItsMean) {
  const StepTable table = table_of(4, 2);
  // Means 6, 3, 4 and 5.
  const std::vector<double> amount{5, 2, 4, 5, 7, 4, 4, 5};
  EXPECT_THAT(*amount_beside_others(table, amount, 0), DoubleNear(6 / 4., 1e-12));
  EXPECT_THAT(*amount_beside_others(table, amount, 1), DoubleNear(3 / 5., 1e-12));
  EXPECT_FALSE(amount_beside_others(table, {1, 0, 0, 0, 1, 0, 0, 0}, 0).has_value());
}

// Equal work that varies: neither a mean of ratios nor the lower one of two in the middle is 1 of it.
TEST(CellStatistics, EqualWorkThatVariesIsEqual) {
  const StepTable table = table_of(3, 300);
  std::vector<double> amount;
  std::uint32_t state = 1;
  for (int cell = 0; cell < 900; ++cell) {
    state = state * 1664525U + 1013904223U;
    amount.push_back(std::exp(static_cast<double>(state >> 16U) / 32768.0));
  }
  for (std::size_t rank = 0; rank < 3; ++rank)
    EXPECT_THAT(*amount_beside_others(table, amount, rank), DoubleNear(1, 0.1));
}

TEST(CellStatistics, ARankThatIsKnownOfInFewStepsIsNotCompared) {
  const StepTable table = table_of(2, 4);
  EXPECT_FALSE(amount_beside_others(table, {1, 1, kUnknownAmount, 1, kUnknownAmount, 1, kUnknownAmount, 1}, 0)
                   .has_value());
  EXPECT_THAT(*amount_beside_others(table, {2, 1, 2, 1, kUnknownAmount, 1, kUnknownAmount, 1}, 0),
              DoubleNear(2, 1e-12));
}

}  // namespace
}  // namespace lockstep::analyzer
