#include "analyzer/comparison/pairs.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace lockstep::analyzer {
namespace {

constexpr auto kLower = Direction::lower_is_better;

// A machine that slows down by a third while they run: the two are told apart all the same.
TEST(Pairs, WhatBothShareFallsOut) {
  const std::vector<RunPair> pairs{{105, 100}, {126.2, 120}, {115.4, 110}, {136.4, 130}};
  const Excess excess = excess_of_pairs(pairs, kLower, {.relative = 0.03});
  EXPECT_NEAR(excess.limit, 115 * 1.03, 1e-9);
  EXPECT_LT(*chance_as_high(excess.beyond), 0.001);
  std::vector<double> head, base;
  for (const RunPair& pair : pairs) {
    head.push_back(pair.head);
    base.push_back(pair.base);
  }
  EXPECT_GT(*chance_as_high(excess_over(sample_of(head), sample_of(base), kLower, {.relative = 0.03}).beyond),
            0.3);
}

TEST(Pairs, AFloorCountsInTheFiguresUnit) {
  const Excess excess =
      excess_of_pairs(std::vector<RunPair>{{12, 10}, {13, 10}}, kLower, {.relative = 0.03, .floor = 5});
  EXPECT_DOUBLE_EQ(excess.limit, 15);
  EXPECT_DOUBLE_EQ(excess.beyond.estimate, -2.5);
  const Excess higher = excess_of_pairs(std::vector<RunPair>{{80, 100}, {82, 100}},
                                        Direction::higher_is_better, {.relative = 0.1});
  EXPECT_DOUBLE_EQ(higher.limit, 90);
  EXPECT_DOUBLE_EQ(higher.beyond.estimate, 9);
}

TEST(Pairs, OneTellsNothing) {
  EXPECT_FALSE(chance_as_high(excess_of_pairs(std::vector<RunPair>{{12, 10}}, kLower, {}).beyond));
}

TEST(Spending, SpendsTheWholeRateAndMostAtTheEnd) {
  EXPECT_TRUE(spending(0).empty());
  EXPECT_TRUE(spending(1).empty());
  for (std::size_t pairs = 2; pairs < 20; ++pairs) {
    const std::vector<double> parts = spending(pairs);
    ASSERT_EQ(parts.size(), pairs - 1);
    EXPECT_NEAR(std::accumulate(parts.begin(), parts.end(), 0.0), 1, 1e-12);
    EXPECT_GE(parts.back(), 2.0 / 3 - 1e-12);
  }
}

}  // namespace
}  // namespace lockstep::analyzer
