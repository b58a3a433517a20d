#include "analyzer/statistics/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace lockstep::analyzer {
namespace {

using Series = std::vector<double>;

TEST(WithoutOutliers, MovesThemToThreeDeviationsAndLeavesTheRest) {
  // Median 3; deviations 2, 1, 0, 1, 97: their median is 1, scaled 1.4826.
  EXPECT_EQ(without_outliers({1, 2, 3, 4, 100}), (Series{1, 2, 3, 4, 3 + 3 * 1.4826}));
  EXPECT_EQ(without_outliers({-90, 2, 3, 4, 5}).front(), 3 - 3 * 1.4826);
}

TEST(WithoutOutliers, MovesNothingWhereMostValuesAreEqual) {
  EXPECT_EQ(without_outliers({7, 7, 7, 7, 50}), (Series{7, 7, 7, 7, 50}));
  EXPECT_TRUE(without_outliers({}).empty());
  EXPECT_EQ(without_outliers({4}), Series{4});
}

TEST(WithoutTrend, LeavesNothingOfALine) {
  Series line;
  for (int i = 0; i < 31; ++i) line.push_back(5 - 0.25 * i);
  for (const double rest : without_trend(line)) EXPECT_NEAR(rest, 0, 1e-12);
  EXPECT_TRUE(without_trend({}).empty());
  EXPECT_EQ(without_trend({3}), Series{0});
}

// No other line leaves smaller squares.
TEST(WithoutTrend, IsByLeastSquares) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  Series series;
  for (int i = 0; i < 40; ++i) series.push_back(0.3 * i + normal(random));
  const auto squares = [](const Series& rest) {
    double sum = 0;
    for (const double value : rest) sum += value * value;
    return sum;
  };
  const Series rest = without_trend(series);
  const double least = squares(rest);
  for (const double slope : {-0.01, 0.01}) {
    for (const double level : {-0.1, 0.0, 0.1}) {
      Series other = rest;
      for (std::size_t i = 0; i < other.size(); ++i)
        other[i] += level + slope * (static_cast<double>(i) - 19.5);
      EXPECT_GT(squares(other), least);
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer
