#include "analyzer/comparison/pairs.h"

namespace lockstep::analyzer {

Excess excess_of_pairs(std::span<const RunPair> pairs, Direction direction, const Tolerance& tolerance) {
  const double sign = sign_of(direction);
  double base_mean = 0;
  for (const RunPair& pair : pairs) base_mean += pair.base / static_cast<double>(pairs.size());
  const bool relative = is_relative(tolerance, base_mean);
  const double factor = relative ? factor_of(tolerance, sign * base_mean) : 1;
  const double allowance = relative ? 0 : tolerance.floor;
  std::vector<double> beyond;
  beyond.reserve(pairs.size());
  for (const RunPair& pair : pairs) beyond.push_back(sign * (pair.head - factor * pair.base) - allowance);
  const Sample head = sample_of(beyond);
  return {.beyond = difference_from(head, 0), .limit = factor * base_mean + sign * allowance, .head = head};
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
