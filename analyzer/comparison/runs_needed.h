// How many more runs would settle what these could not.
#pragma once

#include <cstddef>
#include <optional>

#include "analyzer/comparison/zone.h"

namespace lockstep::analyzer {

inline constexpr std::size_t kMaxMoreRuns = 100;

// How sure each verdict has to be. Of a figure among several `worse` is more than of one alone: it has to
// stand the correction for all of them (holm.h).
struct Sureness {
  double worse = 0.99, within = 0.95;
};

// That of a figure with this share of all figures' weights, which stands Holm's correction whatever the
// others show: the correction is least strict where others are worse, and never stricter than this
// (Bonferroni's).
Sureness sureness_among(double false_alarms, double confidence, double share_of_weights);

// The chance, given what these runs showed, that `more` runs of each side settle it, one way or the other. Of
// what runs may yet show nothing is known but these (a flat prior), of the spread that it is as uncertain as
// so few runs make it. Absent where nobody knows the spread.
std::optional<double> chance_of_verdict(const Excess& excess, const Sureness& sureness, std::size_t more);

// The least number of further runs of each side by which nine of ten such figures are decided; absent where
// more than kMaxMoreRuns would be needed (the true difference is then about the tolerance itself), or the
// spread is not known.
std::optional<std::size_t> runs_needed(const Excess& excess, const Sureness& sureness);

}  // namespace lockstep::analyzer
