#include "analyzer/statistics/autocorrelation.h"

#include <algorithm>
#include <cmath>

#include "analyzer/intervals/median.h"
#include "analyzer/statistics/median_deviation.h"

namespace lockstep::analyzer {
namespace {

constexpr double kHighest = 0.99;
constexpr std::size_t kLeastCount = 5;

// Deviations from the mean, once outliers are moved to where they begin.
std::vector<double> deviations(const std::vector<double>& values) {
  const double middle = lower_median(values);
  const double reach = 3 * median_deviation(values);
  std::vector<double> result;
  double mean = 0;
  for (const double value : values) {
    result.push_back(reach > 0 ? std::clamp(value, middle - reach, middle + reach) : value);
    mean += result.back() / static_cast<double>(values.size());
  }
  for (double& value : result) value -= mean;
  return result;
}

}  // namespace

double autocorrelation(std::span<const std::vector<double>> series) {
  if (series.empty() || series.front().size() < kLeastCount) return kHighest;
  const auto n = static_cast<double>(series.front().size());
  double products = 0, squares = 0;
  for (const std::vector<double>& values : series) {
    const std::vector<double> from_mean = deviations(values);
    for (std::size_t i = 0; i < from_mean.size(); ++i) {
      squares += from_mean[i] * from_mean[i];
      if (i > 0) products += from_mean[i] * from_mean[i - 1];
    }
  }
  if (squares <= 0) return 0;
  const double raw = products / squares * n / (n - 1);
  // raw = ρ − (1 + 3ρ)/n, solved for ρ.
  return std::clamp((raw + 1 / n) / (1 - 3 / n), 0.0, kHighest);
}

double effective_count(std::size_t count, double correlation) {
  return static_cast<double>(count) * (1 - correlation) / (1 + correlation);
}

}  // namespace lockstep::analyzer
