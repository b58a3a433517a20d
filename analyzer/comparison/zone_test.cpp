#include "analyzer/comparison/zone.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::analyzer {
namespace {

Sample sample(std::vector<double> values) {
  return sample_of(values);
}

Zone zone(const Excess& excess, double confidence = 0.95) {
  return zone_of(excess, chance_as_high(excess.beyond), 1 - confidence, confidence);
}

constexpr auto kLower = Direction::lower_is_better;
constexpr auto kHigher = Direction::higher_is_better;

TEST(Zone, ThreeOfThem) {
  const Sample base = sample({399, 400, 401});
  const Tolerance tolerance{.relative = 0.03};
  const Excess worse = excess_over(sample({429, 430, 431}), base, kLower, tolerance);
  EXPECT_DOUBLE_EQ(worse.limit, 412);
  EXPECT_EQ(zone(worse), Zone::worse);
  EXPECT_EQ(zone(excess_over(sample({401, 402, 403}), base, kLower, tolerance)), Zone::within);
  EXPECT_EQ(zone(excess_over(sample({411, 412, 413}), base, kLower, tolerance)), Zone::undecided);
  EXPECT_EQ(zone(excess_over(sample({380}), sample({400}), kLower, tolerance)), Zone::undecided);
}

TEST(Zone, HigherIsBetterTheOtherWay) {
  const Sample base = sample({0.899, 0.9, 0.901});
  const Tolerance tolerance{.relative = 0.05};
  const Excess worse = excess_over(sample({0.799, 0.8, 0.801}), base, kHigher, tolerance);
  EXPECT_DOUBLE_EQ(worse.limit, 0.855);
  EXPECT_NEAR(worse.beyond.estimate, 0.055, 1e-12);
  EXPECT_EQ(zone(worse), Zone::worse);
  EXPECT_EQ(zone(excess_over(sample({0.949, 0.95, 0.951}), base, kHigher, tolerance)), Zone::within);
}

TEST(Zone, TheLargerToleranceCounts) {
  const Sample base = sample({1.9, 2, 2.1});
  const Excess excess = excess_over(sample({6.9, 7, 7.1}), base, kLower, {.relative = 0.03, .floor = 5});
  EXPECT_DOUBLE_EQ(excess.limit, 7);
  EXPECT_DOUBLE_EQ(excess.factor, 1);
  EXPECT_DOUBLE_EQ(excess_over(sample({7}), 400, kLower, {.relative = 0.03, .floor = 5}).limit, 412);
  EXPECT_DOUBLE_EQ(excess_over(sample({7}), 400, kHigher, {.relative = 0.03, .floor = 20}).limit, 380);
}

// A figure below 0 that is to be low: 3 % worse is nearer to 0.
TEST(Zone, ToleranceOfNegativeFigures) {
  const Excess excess =
      excess_over(sample({-99, -100, -101}), sample({-99, -100, -101}), kLower, {.relative = 0.03});
  EXPECT_DOUBLE_EQ(excess.limit, -97);
}

TEST(Zone, BoundsDoNotVary) {
  EXPECT_EQ(zone(excess_over(sample({99, 100, 101}), 120, kLower, {})), Zone::within);
  EXPECT_EQ(zone(excess_over(sample({99, 100, 101}), 80, kLower, {})), Zone::worse);
  EXPECT_EQ(zone(excess_over(sample({99, 100, 101}), 100.5, kLower, {})), Zone::undecided);
  EXPECT_EQ(zone(excess_over(sample({100, 100}), 100, kLower, {})), Zone::within);
  EXPECT_EQ(zone(excess_over(sample({100.01, 100.01}), 100, kLower, {})), Zone::worse);
}

TEST(Zone, GainIsTheOtherSide) {
  const Sample base = sample({399, 400, 401}), better = sample({360, 361, 362});
  const Excess gain = gain_over(better, base, kLower, {.relative = 0.03});
  EXPECT_DOUBLE_EQ(gain.limit, 388);
  EXPECT_LT(*chance_as_high(gain.beyond), 0.001);
  EXPECT_GT(*chance_as_high(gain_over(base, base, kLower, {.relative = 0.03}).beyond), 0.99);
  EXPECT_DOUBLE_EQ(gain_over(better, base, kHigher, {.relative = 0.03}).limit, 412);
}

TEST(Zone, CorrectedForOtherFiguresItTakesMore) {
  const Excess excess = excess_over(sample({104, 106, 108}), sample({99, 100, 101}), kLower, {});
  const double chance = *chance_as_high(excess.beyond);
  ASSERT_LT(chance, 0.05);
  EXPECT_EQ(zone_of(excess, chance, 0.05, 0.95), Zone::worse);
  EXPECT_EQ(zone_of(excess, chance * 10, 0.05, 0.95), Zone::undecided);
}

}  // namespace
}  // namespace lockstep::analyzer
