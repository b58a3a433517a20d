// One figure of several runs, as far as statistics need it. The run is the unit: the steps of a run share its
// placement, its neighbours and its clocks, so that pooling them would call any two runs different.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lockstep::analyzer {

struct Sample {
  std::size_t runs = 0;
  double mean = 0;
  // Between runs, dividing by runs - 1; absent of a single run, which does not tell what others would show.
  std::optional<double> deviation = std::nullopt;
};

// Of finite values; of none, a sample of no runs.
Sample sample_of(std::span<const double> values);

}  // namespace lockstep::analyzer
