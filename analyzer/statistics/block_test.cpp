#include "analyzer/statistics/block_test.h"

#include <algorithm>
#include <cstdint>

#include "analyzer/statistics/place_sums.h"
#include "analyzer/statistics/signed_ranks.h"

namespace lockstep::analyzer {

std::vector<double> chances_of_members(std::span<const std::vector<double>> values) {
  std::vector<double> chances;
  if (values.empty()) return chances;
  const std::size_t members = values.front().size();
  if (members == 2) {
    std::vector<double> higher, lower;
    for (const std::vector<double>& block : values) {
      higher.push_back(block[0] - block[1]);
      lower.push_back(block[1] - block[0]);
    }
    for (const std::vector<double>& differences : {higher, lower})
      chances.push_back(chance_of_signed_ranks(values.size(), signed_rank_sum(differences)));
  } else {
    chances = chances_of_place_sums(members, values.size(), place_sums(values));
  }
  for (double& chance : chances) chance = std::min(1.0, chance * static_cast<double>(members));
  return chances;
}

}  // namespace lockstep::analyzer
