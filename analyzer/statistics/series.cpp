#include "analyzer/statistics/series.h"

#include <algorithm>

#include "analyzer/intervals/median.h"
#include "analyzer/statistics/median_deviation.h"

namespace lockstep::analyzer {

std::vector<double> without_outliers(const std::vector<double>& series) {
  constexpr double kReach = 3;
  std::vector<double> moved = series;
  if (series.empty()) return moved;
  const double middle = lower_median(series);
  const double reach = kReach * median_deviation(series);
  if (reach > 0)
    for (double& value : moved) value = std::clamp(value, middle - reach, middle + reach);
  return moved;
}

std::vector<double> without_trend(const std::vector<double>& series) {
  const auto count = static_cast<double>(series.size());
  double mean = 0;
  for (const double value : series) mean += value / count;
  const auto time = [&](std::size_t i) { return static_cast<double>(i) - (count - 1) / 2; };
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    products += time(i) * (series[i] - mean);
    squares += time(i) * time(i);
  }
  const double slope = squares > 0 ? products / squares : 0;
  std::vector<double> rest;
  rest.reserve(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) rest.push_back(series[i] - mean - slope * time(i));
  return rest;
}

}  // namespace lockstep::analyzer
