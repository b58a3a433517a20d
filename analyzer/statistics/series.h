// What is left of a series in time once outliers and a trend are taken out of it.
#pragma once

#include <vector>

namespace lockstep::analyzer {

// Values further than three (scaled) median absolute deviations from the median are moved to there
// (winsorized: Hastings et al., "Low moments for small samples", 1947). Where more than half of the values
// are equal nothing is moved. Empty for an empty series. O(n).
std::vector<double> without_outliers(const std::vector<double>& series);

// What a straight line through the series, by least squares, leaves of it: its mean is 0. O(n).
std::vector<double> without_trend(const std::vector<double>& series);

}  // namespace lockstep::analyzer
