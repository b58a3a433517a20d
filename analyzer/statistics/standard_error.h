// How far the mean of a series in time lies from 0, measured by what such a mean varies by.
#pragma once

#include <span>
#include <vector>

namespace lockstep::analyzer {

// Correlation of neighbouring values (autocorrelation.h) of what outliers and a trend leave of each series,
// over all of them together, one standard error higher than seen: too low a one makes noise look like
// something. A trend is no reason for doubt: what grows is there. From 0 to 0.99.
double cautious_autocorrelation(std::span<const std::vector<double>> series);

// The mean of a series, outliers moved in, divided by its standard error. The error is the standard deviation
// of what a straight line leaves of the series, over the square root of as many independent values as the
// series is worth at this correlation (effective_count). Negative where the mean is; 0 where the series has
// fewer than three values; where nothing varies, infinite, or 0 with the mean.
double mean_in_standard_errors(const std::vector<double>& series, double correlation);

// The standard deviation of what outliers and a straight line leave of a series; 0 for fewer than three
// values.
double deviation_around_trend(const std::vector<double>& series);

}  // namespace lockstep::analyzer
