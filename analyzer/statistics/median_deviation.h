// How far values lie from their median, whatever a few of them do.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {

// The median absolute deviation from the (lower) median, scaled so that it is the standard deviation where
// values are normally distributed (Hampel, "The influence curve and its role in robust estimation", 1974).
// Precondition: there is a value. O(n).
inline double median_deviation(const std::vector<double>& values) {
  constexpr double kScale = 1.4826;
  const double middle = lower_median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return kScale * lower_median(std::move(distances));
}

}  // namespace lockstep::analyzer
