#include "analyzer/report/account_spread.h"

#include <algorithm>
#include <utility>

namespace lockstep::analyzer {
namespace {

SpendingSpread spread_of(const AccountReport& account, Spending spending) {
  std::vector<std::pair<std::int64_t, std::int32_t>> times;  // ns, rank
  times.reserve(account.ranks.size());
  for (const RankAccount& rank : account.ranks) times.emplace_back(rank.spent[spending], rank.rank);
  std::sort(times.begin(), times.end());
  SpendingSpread spread;
  spread.spending = spending;
  const std::int64_t sum = account.spent[spending];
  const auto ranks = static_cast<std::int64_t>(times.size());
  spread.mean_ns = sum / ranks + (sum % ranks >= ranks - sum % ranks ? 1 : 0);
  spread.share = static_cast<double>(sum) / static_cast<double>(account.spent.total());
  spread.least_ns = times.front().first;
  spread.least_rank = times.front().second;
  spread.median_ns = times[(times.size() - 1) / 2].first;
  spread.most_ns = times.back().first;
  spread.most_rank =
      std::lower_bound(times.begin(), times.end(), std::pair(times.back().first, times.front().second),
                       [](const auto& a, const auto& b) { return a.first < b.first; })
          ->second;
  return spread;
}

}  // namespace

std::vector<SpendingSpread> spread_over_ranks(const AccountReport& account) {
  std::vector<SpendingSpread> all;
  if (account.ranks.empty() || account.spent.total() <= 0) return all;
  for (const Spending spending : kSpendingsByLife)
    if (account.spent[spending] > 0) all.push_back(spread_of(account, spending));
  return all;
}

}  // namespace lockstep::analyzer
