#include "analyzer/report/start_up_in_steps.h"

#include <algorithm>

#include "analyzer/model/warns_of.h"

namespace lockstep::analyzer {
namespace {

// What the account says of the rank's steps, and of what may lie within them.
std::int64_t counted_as_steps(const Account& spent) {
  return spent.total() - spent[Spending::start_up] - spent[Spending::shutdown] - spent[Spending::other];
}

}  // namespace

std::int64_t start_up_in_steps_ns(const Report& report) {
  constexpr std::int64_t kWorth = 20;  // a twentieth
  if (!warns_of(report.warnings, "no_steady_steps")) return 0;
  std::int64_t start_up = 0, all = 0, ranks = 0;
  for (const RankReport& rank : report.ranks) {
    const auto account = std::ranges::find(report.account.ranks, rank.rank, &RankAccount::rank);
    if (account == report.account.ranks.end() || account->spent[Spending::steady] <= 0) continue;
    const std::int64_t more = rank.measures.window_ns - counted_as_steps(account->spent);
    start_up +=
        std::clamp<std::int64_t>(more, 0, std::max<std::int64_t>(account->spent[Spending::start_up], 0));
    all += rank.measures.window_ns;
    ++ranks;
  }
  return start_up == 0 || start_up < all / kWorth ? 0 : start_up / ranks;
}

}  // namespace lockstep::analyzer
