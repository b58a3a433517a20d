#include "analyzer/statistics/signed_ranks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lockstep::analyzer {

std::int64_t signed_rank_sum(std::span<const double> differences) {
  std::vector<double> sizes;
  sizes.reserve(differences.size());
  for (const double difference : differences) sizes.push_back(std::abs(difference));
  std::sort(sizes.begin(), sizes.end());
  std::int64_t sum = 0;
  for (const double difference : differences)
    if (!(difference > 0))
      sum += std::upper_bound(sizes.begin(), sizes.end(), std::abs(difference)) - sizes.begin();
  return sum;
}

double chance_of_signed_ranks(std::size_t count, std::int64_t sum) {
  if (sum < 0) return 0;
  const auto highest = static_cast<std::int64_t>(count * (count + 1) / 2);
  const auto most = static_cast<std::size_t>(std::min(sum, highest));
  // chance[s]: that the places so far that fell the wrong way sum to s.
  std::vector<double> chance(most + 1, 0);
  chance[0] = 1;
  for (std::size_t place = 1; place <= count; ++place)
    for (std::size_t s = most + 1; s-- > 0;)
      chance[s] = (chance[s] + (s >= place ? chance[s - place] : 0)) / 2;
  return std::min(1.0, std::accumulate(chance.begin(), chance.end(), 0.0));
}

}  // namespace lockstep::analyzer
