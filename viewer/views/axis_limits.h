// Limits of a plot's axis that its ticks can be counted along.
#pragma once

#include <algorithm>
#include <cmath>

namespace lockstep::viewer {

struct AxisLimits {
  double low = 0;
  double high = 1;
};

// Around [low, high], which may be anything but NaN. Plots step along an axis by small parts of it: where
// such a part is lost when it is added to a large number they would step for ever, so the range is widened
// until it is not. A range of no length becomes one of 1.
inline AxisLimits axis_limits(double low, double high) {
  constexpr double kMost = 1e300;
  constexpr double kLeast = 1e-12;  // of the greatest number: a thousandth of it is still more than rounding
  low = std::clamp(low, -kMost, kMost);
  high = std::clamp(high, low, kMost);
  const double least = std::max({std::abs(low), std::abs(high)}) * kLeast;
  if (high == low) {
    low -= 0.5;
    high += 0.5;
  }
  if (high - low >= least) return {low, high};
  const double middle = low + (high - low) / 2;
  return {middle - least, middle + least};
}

}  // namespace lockstep::viewer
