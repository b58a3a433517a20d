// How much a value has to do with the one before it, and so how many independent values a series is worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::analyzer {

// What has been estimated of each series and taken out of it.
enum class TakenOut : std::uint8_t { mean, line };

// Correlation at lag one of the deviations from each series' own mean, over all series together, from 0 (also
// where it is negative) to 0.99. Values further than three (scaled) median absolute deviations from their
// series' median are moved there first: one outlier would hide how the rest hangs together. Corrected for the
// bias that estimating the mean of a short series has, −(1 + 3ρ)/n (Kendall, "Note on bias in the estimation
// of autocorrelation", 1954), or a straight line, −(2 + 4ρ)/n. All series have the same length n; of what is
// shorter than 5 0.99 is said: nothing can be told of it.
double autocorrelation(std::span<const std::vector<double>> series, TakenOut taken_out = TakenOut::mean);

// A series of n values with this correlation tells as much of its mean as so many independent ones: n (1 −
// ρ)/(1 + ρ) (Bayley and Hammersley, "The effective number of independent observations in an autocorrelated
// time series", 1946).
double effective_count(std::size_t count, double correlation);

}  // namespace lockstep::analyzer
