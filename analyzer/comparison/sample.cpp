#include "analyzer/comparison/sample.h"

#include <cmath>

namespace lockstep::analyzer {

Sample sample_of(std::span<const double> values) {
  Sample sample{.runs = values.size()};
  if (values.empty()) return sample;
  for (const double value : values) sample.mean += value / static_cast<double>(values.size());
  if (values.size() < 2) return sample;
  double squares = 0;
  for (const double value : values) squares += (value - sample.mean) * (value - sample.mean);
  sample.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return sample;
}

}  // namespace lockstep::analyzer
