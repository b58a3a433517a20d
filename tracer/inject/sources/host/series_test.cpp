// From samples to points: nothing of a rate is lost by leaving points out.
#include "tracer/inject/sources/host/series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace lockstep::tracer::host {
namespace {

using Points = std::vector<std::pair<trace::Nanoseconds, double>>;
constexpr trace::Nanoseconds kSecond = 1'000'000'000;

Points points_of(const Quantity& quantity,
                 const std::vector<std::pair<trace::Nanoseconds, Amount>>& readings) {
  Points points;
  Series series(quantity);
  const auto add = [&](trace::Nanoseconds time, double value) { points.emplace_back(time, value); };
  for (const auto& [time, reading] : readings) series.add(time, reading, add);
  series.finish(add);
  return points;
}

TEST(Series, RatesBeginWithZeroAndGaugesAsTheyAre) {
  const Quantity rate{"r", Quantity::Kind::rate, 2};
  EXPECT_EQ(points_of(rate, {{5 * kSecond, 1000}, {7 * kSecond, 1010}}),
            (Points{{5 * kSecond, 0}, {7 * kSecond, 10}}));
  const Quantity gauge{"g", Quantity::Kind::gauge, 0.5};
  EXPECT_EQ(points_of(gauge, {{1, 10}, {2, 20}}), (Points{{1, 5}, {2, 10}}));
}

TEST(Series, WhatDoesNotChangeIsLeftOutUpToTheLastPointBeforeAChange) {
  const Quantity gauge{"g", Quantity::Kind::gauge, 1};
  EXPECT_EQ(points_of(gauge, {{1, 5}, {2, 5}, {3, 5}, {4, 6}, {5, 6}, {6, 6}}),
            (Points{{1, 5}, {3, 5}, {4, 6}, {6, 6}}));
  EXPECT_EQ(points_of(gauge, {{1, 5}}), (Points{{1, 5}}));
}

TEST(Series, MissingReadingsAreNoZeros) {
  const Quantity rate{"r", Quantity::Kind::rate, 1};
  EXPECT_TRUE(points_of(rate, {{1, std::nullopt}, {2, std::nullopt}}).empty());
  EXPECT_EQ(points_of(rate, {{0, 10}, {kSecond, std::nullopt}, {2 * kSecond, 30}}),
            (Points{{0, 0}, {2 * kSecond, 10}}));
}

TEST(Series, AReadingThatFallsWasReset) {
  const Quantity rate{"r", Quantity::Kind::rate, 1};
  EXPECT_EQ(points_of(rate, {{0, 100}, {kSecond, 5}, {2 * kSecond, 8}}),
            (Points{{0, 0}, {kSecond, 0}, {2 * kSecond, 3}}));
}

// Whatever grows, in whatever steps, with pauses: the points add up to it.
TEST(Series, PointsAddUpToTheGrowth) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const Quantity rate{"r", Quantity::Kind::rate, 1};
    std::vector<std::pair<trace::Nanoseconds, Amount>> readings;
    trace::Nanoseconds time = random();
    std::uint64_t reading = random();
    for (int i = 0; i < 100; ++i) {
      readings.emplace_back(time, reading);
      time += 1 + random() % 200'000'000;
      if (random() % 3 != 0) reading += random() % 100'000;
    }
    const Points points = points_of(rate, readings);
    double total = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      ASSERT_GT(points[i].first, points[i - 1].first);
      total += points[i].second * static_cast<double>(points[i].first - points[i - 1].first) * 1e-9;
    }
    EXPECT_EQ(std::llround(total),
              static_cast<long long>(*readings.back().second - *readings.front().second));
    EXPECT_NEAR(total, std::round(total), 1e-4);
  }
}

}  // namespace
}  // namespace lockstep::tracer::host
