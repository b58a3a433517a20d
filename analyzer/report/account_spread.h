// The run's account over its ranks: for pictures and tables that cannot show each of thousands of them.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/report/run_account.h"

namespace lockstep::analyzer {

struct SpendingSpread {
  Spending spending = Spending::other;
  std::int64_t mean_ns = 0;                               // of a rank, to the nearest
  double share = 0;                                       // of all time of all ranks
  std::int64_t least_ns = 0, median_ns = 0, most_ns = 0;  // of a rank; of an even number the lower median
  std::int32_t least_rank = 0, most_rank = 0;             // the first of those that spent as much
};

// What any rank spent time in, in the order of a run's life (kSpendingsByLife); empty where there is no
// account. O(ranks · log ranks): for once a run, not for each frame.
std::vector<SpendingSpread> spread_over_ranks(const AccountReport& account);

}  // namespace lockstep::analyzer
