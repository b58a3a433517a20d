#include "analyzer/statistics/standard_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace lockstep::analyzer {
namespace {

std::vector<double> series_with(double memory, std::size_t count, double level, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double state = normal(random);
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(level + state);
    state = memory * state + std::sqrt(1 - memory * memory) * normal(random);
  }
  return values;
}

// Around 0 the mean lies about one standard error away, whatever the memory: that is what an error is.
TEST(StandardError, IsWhatMeansVaryBy) {
  std::mt19937 random(1);
  constexpr int kRuns = 2000;
  for (const double memory : {0.0, 0.5, 0.8}) {
    double squares = 0;
    for (int run = 0; run < kRuns; ++run) {
      const double errors = mean_in_standard_errors(series_with(memory, 200, 0, random), memory);
      squares += errors * errors / kRuns;
    }
    EXPECT_NEAR(std::sqrt(squares), 1, 0.12) << memory;
  }
}

TEST(StandardError, AMeanOfTenDeviationsInHundredValuesIsAHundredErrors) {
  std::mt19937 random(2);
  EXPECT_NEAR(mean_in_standard_errors(series_with(0, 100, 10, random), 0), 100, 15);
  EXPECT_NEAR(mean_in_standard_errors(series_with(0, 100, -10, random), 0), -100, 15);
}

TEST(StandardError, ATrendAndAnOutlierDoNotEnlargeIt) {
  std::mt19937 random(3);
  std::vector<double> series = series_with(0, 60, 4, random);
  const double plain = mean_in_standard_errors(series, 0);
  series[30] += 1000;
  EXPECT_NEAR(mean_in_standard_errors(series, 0) / plain, 1, 0.2);
  series[30] -= 1000;
  for (std::size_t i = 0; i < series.size(); ++i) series[i] += 0.05 * (static_cast<double>(i) - 29.5);
  EXPECT_NEAR(mean_in_standard_errors(series, 0) / plain, 1, 0.1);
  EXPECT_NEAR(deviation_around_trend(series), 1, 0.2);
}

TEST(StandardError, OfHardlyAnythingIsNothing) {
  EXPECT_EQ(mean_in_standard_errors({}, 0), 0);
  EXPECT_EQ(mean_in_standard_errors({5, 5}, 0), 0);
  EXPECT_EQ(mean_in_standard_errors({0, 0, 0, 0}, 0), 0);
  EXPECT_EQ(mean_in_standard_errors({5, 5, 5, 5}, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(mean_in_standard_errors({-5, -5, -5, -5}, 0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(deviation_around_trend({1, 9}), 0);
}

TEST(CautiousAutocorrelation, IsHigherThanWhatWasSeenAndKnowsNoTrend) {
  std::mt19937 random(4);
  std::vector<std::vector<double>> series;
  for (int i = 0; i < 4; ++i) series.push_back(series_with(0.5, 500, 0, random));
  const double level = cautious_autocorrelation(series);
  EXPECT_GT(level, 0.48);
  EXPECT_LT(level, 0.6);
  for (std::vector<double>& one : series)
    for (std::size_t i = 0; i < one.size(); ++i) one[i] += 0.01 * static_cast<double>(i);
  EXPECT_NEAR(cautious_autocorrelation(series), level, 0.02);
  EXPECT_EQ(cautious_autocorrelation({}), 0.99);
}

}  // namespace
}  // namespace lockstep::analyzer
