#include "analyzer/statistics/place_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep::analyzer {

double chance_of_place_sum(std::size_t members, std::size_t blocks, std::int64_t sum) {
  if (members < 2 || blocks == 0 || sum <= 0) return 1;
  const std::size_t highest = blocks * (members - 1);
  if (static_cast<std::uint64_t>(sum) > highest) return 0;
  // By symmetry the chance of at least `sum` is that of at most `highest` − `sum`, whose small numbers add up
  // without cancellation.
  const std::size_t most = highest - static_cast<std::size_t>(sum);
  std::vector<double> chance(most + 1, 0);
  chance[0] = 1;
  const double each = 1 / static_cast<double>(members);
  for (std::size_t block = 0; block < blocks; ++block) {
    std::vector<double> until(most + 2, 0);
    for (std::size_t i = 0; i <= most; ++i) until[i + 1] = until[i] + chance[i];
    for (std::size_t i = 0; i <= most; ++i)
      chance[i] = (until[i + 1] - (i >= members ? until[i + 1 - members] : 0)) * each;
  }
  return std::min(1.0, std::accumulate(chance.begin(), chance.end(), 0.0));
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
