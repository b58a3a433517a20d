#include "analyzer/statistics/block_test.h"

#include <algorithm>
#include <cstdint>
#include <map>

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
    std::map<std::int64_t, double> known;  // many members share few sums
    for (const std::int64_t sum : place_sums(values)) {
      const auto [chance, is_new] = known.try_emplace(sum, 0);
      if (is_new) chance->second = chance_of_place_sum(members, values.size(), sum);
      chances.push_back(chance->second);
    }
  }
  for (double& chance : chances) chance = std::min(1.0, chance * static_cast<double>(members));
  return chances;
}

}  // namespace lockstep::analyzer
