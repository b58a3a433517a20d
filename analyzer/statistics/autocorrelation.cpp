#include "analyzer/statistics/autocorrelation.h"

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/series.h"

namespace lockstep::analyzer {
namespace {

constexpr double kHighest = 0.99;
constexpr std::size_t kLeastCount = 5;

// Deviations from the mean, once outliers are moved to where they begin.
std::vector<double> deviations(const std::vector<double>& values) {
  std::vector<double> result = without_outliers(values);
  double mean = 0;
  for (const double value : result) mean += value / static_cast<double>(values.size());
  for (double& value : result) value -= mean;
  return result;
}

}  // namespace

double autocorrelation(std::span<const std::vector<double>> series, TakenOut taken_out) {
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
  // raw = ρ − (a + (a + 2) ρ)/n, solved for ρ.
  const double a = taken_out == TakenOut::mean ? 1 : 2;
  return std::clamp((raw + a / n) / (1 - (a + 2) / n), 0.0, kHighest);
}

double effective_count(std::size_t count, double correlation) {
  return static_cast<double>(count) * (1 - correlation) / (1 + correlation);
}

}  // namespace lockstep::analyzer
