#include "analyzer/statistics/autocorrelation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analyzer/statistics/series.h"

namespace lockstep::analyzer {
namespace {

std::vector<double> series_with(double memory, std::size_t count, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double state = normal(random);
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(10 + state);
    state = memory * state + std::sqrt(1 - memory * memory) * normal(random);
  }
  return values;
}

TEST(Autocorrelation, OfLongSeriesIsTheirMemory) {
  std::mt19937 random(1);
  for (const double memory : {0.0, 0.3, 0.6, 0.9}) {
    std::vector<std::vector<double>> series;
    for (int i = 0; i < 8; ++i) series.push_back(series_with(memory, 2000, random));
    EXPECT_NEAR(autocorrelation(series), memory, 0.05);
  }
}

// Without the correction 20 values with a memory of 0.6 look like 0.45.
TEST(Autocorrelation, OfShortSeriesIsCorrectedForItsBias) {
  std::mt19937 random(2);
  for (const double memory : {0.3, 0.6}) {
    std::vector<std::vector<double>> series;
    for (int i = 0; i < 500; ++i) series.push_back(series_with(memory, 20, random));
    EXPECT_NEAR(autocorrelation(series), memory, 0.08);
  }
}

// What a line takes out of 20 values hides more of their memory than their mean does.
TEST(Autocorrelation, OfWhatALineLeavesIsCorrectedToo) {
  std::mt19937 random(5);
  std::vector<std::vector<double>> series;
  for (int i = 0; i < 500; ++i) series.push_back(without_trend(series_with(0.6, 20, random)));
  EXPECT_NEAR(autocorrelation(series, TakenOut::line), 0.6, 0.1);
  EXPECT_LT(autocorrelation(series), autocorrelation(series, TakenOut::line) - 0.05);
}

TEST(Autocorrelation, AnOutlierDoesNotHideIt) {
  std::mt19937 random(3);
  std::vector<std::vector<double>> series{series_with(0.8, 300, random)};
  const double without = autocorrelation(series);
  series[0][150] += 1000;
  EXPECT_NEAR(autocorrelation(series), without, 0.1);
}

TEST(Autocorrelation, OfHardlyAnythingIsNotBelieved) {
  EXPECT_EQ(autocorrelation({}), 0.99);
  const std::vector<std::vector<double>> few{{1, 2, 1, 2}};
  EXPECT_EQ(autocorrelation(few), 0.99);
  const std::vector<std::vector<double>> constant{{3, 3, 3, 3, 3, 3}};
  EXPECT_EQ(autocorrelation(constant), 0);
}

TEST(EffectiveCount, IsThatOfAFirstOrderProcess) {
  EXPECT_DOUBLE_EQ(effective_count(100, 0), 100);
  EXPECT_DOUBLE_EQ(effective_count(90, 0.5), 30);
}

// The variance of the mean is that of so many independent values.
TEST(EffectiveCount, IsWhatTheMeanVariesBy) {
  std::mt19937 random(4);
  constexpr std::size_t kCount = 200;
  double squares = 0;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    double mean = 0;
    for (const double value : series_with(0.7, kCount, random)) mean += (value - 10) / kCount;
    squares += mean * mean / kRuns;
  }
  EXPECT_NEAR(1 / squares / effective_count(kCount, 0.7), 1, 0.15);
}

}  // namespace
}  // namespace lockstep::analyzer
