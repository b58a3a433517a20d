#include "analyzer/comparison/pairs.h"

#include <cmath>

namespace lockstep::analyzer {

Excess excess_of_pairs(std::span<const RunPair> pairs, Direction direction, const Tolerance& tolerance) {
  const double sign = direction == Direction::lower_is_better ? 1 : -1;
  double base_mean = 0;
  for (const RunPair& pair : pairs) base_mean += pair.base / static_cast<double>(pairs.size());
  const bool relative = std::abs(base_mean) * tolerance.relative > tolerance.floor;
  const double factor = !relative              ? 1
                        : base_mean * sign > 0 ? 1 + tolerance.relative
                                               : 1 - tolerance.relative;
  const double allowance = relative ? 0 : tolerance.floor;
  std::vector<double> beyond;
  beyond.reserve(pairs.size());
  for (const RunPair& pair : pairs) beyond.push_back(sign * (pair.head - factor * pair.base) - allowance);
  return {.beyond = difference_from(sample_of(beyond), 0),
          .limit = factor * base_mean + sign * allowance,
          .factor = factor};
}

std::vector<double> spending(std::size_t pairs) {
  if (pairs < 2) return {};
  const std::size_t looks = pairs - 1;
  if (looks == 1) return {1};
  // A third over all looks but the last.
  std::vector<double> parts(looks, 1.0 / 3 / static_cast<double>(looks - 1));
  parts.back() = 1 - 1.0 / 3;
  return parts;
}

}  // namespace lockstep::analyzer
