#include "analyzer/metrics/efficiency.h"

#include <algorithm>

namespace lockstep::analyzer {

EfficiencyReport parallel_efficiency(const std::vector<RankReport>& ranks) {
  EfficiencyReport result;
  const bool known =
      std::all_of(ranks.begin(), ranks.end(), [](const RankReport& rank) { return rank.measures.known; });
  if (!known) return result;
  double sum = 0;
  for (const RankReport& rank : ranks) {
    sum += static_cast<double>(rank.measures.compute_ns);
    result.max_compute_ns = std::max(result.max_compute_ns, rank.measures.compute_ns);
    result.window_ns = std::max(result.window_ns, rank.measures.window_ns);
  }
  if (!ranks.empty()) result.mean_compute_ns = sum / static_cast<double>(ranks.size());
  if (ranks.size() < 2 || result.max_compute_ns == 0) return result;
  result.load_balance = result.mean_compute_ns / static_cast<double>(result.max_compute_ns);
  result.communication = static_cast<double>(result.max_compute_ns) / static_cast<double>(result.window_ns);
  result.parallel = *result.load_balance * *result.communication;
  return result;
}

}  // namespace lockstep::analyzer
