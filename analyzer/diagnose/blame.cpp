#include "analyzer/diagnose/blame.h"

#include <algorithm>
#include <map>

#include "analyzer/intervals/time_math.h"

namespace lockstep::analyzer {

std::vector<BlameReport> sum_blame(const std::vector<CollectiveReport>& collectives) {
  std::map<std::int32_t, BlameReport> by_rank;
  for (const CollectiveReport& collective : collectives) {
    if (!collective.last_arriver) continue;
    BlameReport& blame = by_rank[*collective.last_arriver];
    blame.rank = *collective.last_arriver;
    ++blame.collectives;
    for (const CollectiveRank& rank : collective.ranks) {
      if (rank.rank != blame.rank) blame.blame_ns = saturating_add(blame.blame_ns, rank.wait_ns);
    }
  }
  std::vector<BlameReport> result;
  for (const auto& [rank, blame] : by_rank) {
    if (blame.blame_ns > 0) result.push_back(blame);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const BlameReport& a, const BlameReport& b) { return a.blame_ns > b.blame_ns; });
  return result;
}

}  // namespace lockstep::analyzer
