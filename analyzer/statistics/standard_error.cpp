#include "analyzer/statistics/standard_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyzer/statistics/autocorrelation.h"
#include "analyzer/statistics/series.h"

namespace lockstep::analyzer {
namespace {

constexpr double kHighest = 0.99;
constexpr std::size_t kOfLine = 2;  // what a line takes from the degrees of freedom

}  // namespace

double cautious_autocorrelation(std::span<const std::vector<double>> series) {
  if (series.empty()) return kHighest;
  std::vector<std::vector<double>> rest;
  rest.reserve(series.size());
  for (const std::vector<double>& one : series) rest.push_back(without_trend(without_outliers(one)));
  const double seen = autocorrelation(rest, TakenOut::line);
  // Lateness is measured from the others' median: one series less is free to differ.
  const auto values =
      static_cast<double>(std::max<std::size_t>(1, series.size() - 1) * series.front().size());
  return values > 0 ? std::min(kHighest, seen + std::sqrt((1 - seen * seen) / values)) : kHighest;
}

double deviation_around_trend(const std::vector<double>& series) {
  if (series.size() <= kOfLine) return 0;
  double squares = 0;
  for (const double value : without_trend(without_outliers(series))) squares += value * value;
  return std::sqrt(squares / static_cast<double>(series.size() - kOfLine));
}

double mean_in_standard_errors(const std::vector<double>& series, double correlation) {
  if (series.size() <= kOfLine) return 0;
  double mean = 0;
  for (const double value : without_outliers(series)) mean += value / static_cast<double>(series.size());
  const double error =
      deviation_around_trend(series) / std::sqrt(effective_count(series.size(), correlation));
  if (error > 0) return mean / error;
  return mean == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), mean);
}

}  // namespace lockstep::analyzer
