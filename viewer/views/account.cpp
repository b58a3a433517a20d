#include "viewer/views/account.h"

#include <fmt/format.h>

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
  const auto all = static_cast<double>(spent.total());
  std::int64_t before = 0;
  for (const analyzer::Spending spending : analyzer::kSpendingsByLife) {
    const std::int64_t ns = spent[spending];
    if (ns <= 0) continue;
    parts.push_back({spending, static_cast<double>(before) / all, static_cast<double>(before + ns) / all});
    before += ns;
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
