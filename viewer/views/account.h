// The run's account as bars: of what a bar consists, and what stands beside the pointer on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/account_spread.h"
#include "analyzer/report/run_account.h"

namespace lockstep::viewer {

struct AccountPart {
  analyzer::Spending spending = analyzer::Spending::other;
  double from = 0, to = 0;  // 0 to 1 of the bar
};

// One after the other in the order of a run's life, without those that took no time; empty where nothing
// took any.
std::vector<AccountPart> account_parts(const analyzer::Account& spent);
// At a place on the bar, from 0 to 1; absent beside it.
std::optional<analyzer::Spending> part_at(const std::vector<AccountPart>& parts, double place);

// Exact to the nanosecond: "checkpoint\n10.0 s (10,000,000,000 ns)\n10.0 % of the time of rank 4"; `whose`:
// "rank 4".
std::string describe(const analyzer::Account& spent, analyzer::Spending spending, const std::string& whose);
// Of a way of spending time over all ranks: its mean, and which ranks have most and least of it, where they
// differ from the median.
std::string describe(const analyzer::SpendingSpread& spread);

}  // namespace lockstep::viewer
