#include "viewer/views/account.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/quantity.h"

namespace lockstep::viewer {

namespace {

using analyzer::format_duration;

std::string exactly(std::int64_t ns) {
  return fmt::format("{} ({} ns)", format_duration(ns), format_count(ns));
}

std::string of_rank(std::int64_t ns, std::int32_t rank, bool differs) {
  return differs ? fmt::format("{} on rank {}", exactly(ns), rank) : exactly(ns);
}

}  // namespace

std::vector<AccountPart> account_parts(const analyzer::Account& spent) {
  std::vector<AccountPart> parts;
  double all = 0;  // of a file whose times lie at both ends of time, more than 64 bits hold
  for (const std::int64_t ns : spent.ns) all += static_cast<double>(std::max<std::int64_t>(ns, 0));
  double before = 0;
  for (const analyzer::Spending spending : analyzer::kSpendingsByLife) {
    const std::int64_t ns = spent[spending];
    if (ns <= 0) continue;
    const double behind = before + static_cast<double>(ns);
    parts.push_back({spending, before / all, behind / all});
    before = behind;
  }
  return parts;
}

std::optional<analyzer::Spending> part_at(const std::vector<AccountPart>& parts, double place) {
  for (const AccountPart& part : parts)
    if (place >= part.from && place < part.to) return part.spending;
  return std::nullopt;
}

std::string describe(const analyzer::Account& spent, analyzer::Spending spending, const std::string& whose) {
  return fmt::format("{}\n{}\n{} of the time of {}", title_of(spending), exactly(spent[spending]),
                     analyzer::format_share(spent[spending], spent.total()), whose);
}

std::string describe(const analyzer::SpendingSpread& spread) {
  return fmt::format("{}\nmean of the ranks: {}\nleast: {}\nmedian: {}\nmost: {}", title_of(spread.spending),
                     exactly(spread.mean_ns),
                     of_rank(spread.least_ns, spread.least_rank, spread.least_ns < spread.median_ns),
                     exactly(spread.median_ns),
                     of_rank(spread.most_ns, spread.most_rank, spread.most_ns > spread.median_ns));
}

}  // namespace lockstep::viewer
