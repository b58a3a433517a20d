#include "analyzer/statistics/place_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lockstep::analyzer {

namespace {

// P(sum = i), for sums of 0 to `most`: what stands beyond them does not enter.
std::vector<double> distribution(std::size_t members, std::size_t blocks, std::size_t most) {
  std::vector<double> chance(most + 1, 0);
  chance[0] = 1;
  const double each = 1 / static_cast<double>(members);
  for (std::size_t block = 0; block < blocks; ++block) {
    std::vector<double> until(most + 2, 0);
    for (std::size_t i = 0; i <= most; ++i) until[i + 1] = until[i] + chance[i];
    for (std::size_t i = 0; i <= most; ++i)
      chance[i] = (until[i + 1] - (i >= members ? until[i + 1 - members] : 0)) * each;
  }
  return chance;
}

}  // namespace

double chance_of_place_sum(std::size_t members, std::size_t blocks, std::int64_t sum) {
  return chances_of_place_sums(members, blocks, std::span(&sum, 1)).front();
}

std::vector<double> chances_of_place_sums(std::size_t members, std::size_t blocks,
                                          std::span<const std::int64_t> sums) {
  std::vector<double> chances(sums.size(), 1);
  if (members < 2 || blocks == 0) return chances;
  const std::size_t highest = blocks * (members - 1);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t sum : sums)
    if (sum > 0) least = std::min(least, sum);
  if (least == std::numeric_limits<std::int64_t>::max()) return chances;
  // By symmetry the chance of at least a sum is that of at most `highest` − sum, whose small numbers add up
  // without cancellation.
  std::vector<double> at_most;
  if (static_cast<std::uint64_t>(least) <= highest) {
    at_most = distribution(members, blocks, highest - static_cast<std::size_t>(least));
    std::partial_sum(at_most.begin(), at_most.end(), at_most.begin());
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] <= 0) continue;
    const auto sum = static_cast<std::uint64_t>(sums[i]);
    chances[i] = sum > highest ? 0 : std::min(1.0, at_most[highest - sum]);
  }
  return chances;
}

std::vector<std::int64_t> place_sums(std::span<const std::vector<double>> values) {
  std::vector<std::int64_t> sums(values.empty() ? 0 : values.front().size(), 0);
  for (const std::vector<double>& block : values) {
    std::vector<double> sorted = block;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t member = 0; member < block.size(); ++member)
      sums[member] += std::lower_bound(sorted.begin(), sorted.end(), block[member]) - sorted.begin();
  }
  return sums;
}

Blocks cut_into_blocks(std::size_t count, std::size_t wanted) {
  if (wanted == 0) return {};
  const std::size_t length = std::max<std::size_t>(1, count / wanted);
  return {count / length, length};
}

std::size_t blocks_needed(std::size_t members, double level) {
  // members^(1 − blocks) ≤ level
  const double blocks = 1 - std::log(level) / std::log(static_cast<double>(members));
  return static_cast<std::size_t>(std::ceil(blocks - 1e-9));
}

}  // namespace lockstep::analyzer
