#include "analyzer/diff/exact_mean.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace lockstep::analyzer {
namespace {

constexpr unsigned kFractionBits = 32;
constexpr ExactNs kOne = ExactNs{1} << kFractionBits;

ExactNs rounded_down(ExactNs value) {
  return value >> kFractionBits;
}

}  // namespace

ExactNs quotient(std::int64_t sum, std::int64_t count) {
  return (ExactNs{sum} << kFractionBits) / count;
}

std::int64_t rounded(ExactNs value) {
  return static_cast<std::int64_t>(rounded_down(value + kOne / 2));
}

std::vector<std::int64_t> rounded_together(std::span<const ExactNs> parts) {
  ExactNs sum = 0;
  std::vector<std::int64_t> whole;
  whole.reserve(parts.size());
  for (const ExactNs part : parts) {
    sum += part;
    whole.push_back(static_cast<std::int64_t>(rounded_down(part)));
  }
  const std::int64_t left = rounded(sum) - std::accumulate(whole.begin(), whole.end(), std::int64_t{0});
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a] % kOne > parts[b] % kOne; });
  for (std::int64_t i = 0; i < left; ++i) ++whole[order[static_cast<std::size_t>(i)]];
  return whole;
}

}  // namespace lockstep::analyzer
