#include "analyzer/restrict_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/metrics/bucket_overlap.h"
#include "analyzer/metrics/efficiency.h"
#include "analyzer/metrics/group_summary.h"
#include "analyzer/metrics/wait_states.h"
#include "analyzer/steady_view.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMaxNamed = 8;

Status check(const Restriction& to, const Report& report) {
  for (const RankRange& range : to.ranks) {
    const bool found = std::any_of(report.ranks.begin(), report.ranks.end(), [&](const RankReport& rank) {
      return rank.rank >= range.first && rank.rank <= range.last;
    });
    if (found) continue;
    const std::string asked = range.first == range.last
                                  ? fmt::format("rank {}: it has no trace", range.first)
                                  : fmt::format("ranks {} to {}: none has a trace", range.first, range.last);
    if (report.ranks.empty()) return Error{asked};
    return Error{fmt::format("{}; {} ranks have, from {} to {}", asked, report.ranks.size(),
                             report.ranks.front().rank, report.ranks.back().rank)};
  }
  if (to.group.empty()) return {};
  std::set<std::string> names;
  for (const GroupReport& group : report.groups) names.insert(group.name);
  if (names.contains(to.group)) return {};
  names.erase("");
  if (names.empty()) return Error{fmt::format("group \"{}\": no group of this job has a name", to.group)};
  const std::vector<std::string> some(
      names.begin(),
      std::next(names.begin(), static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxNamed))));
  return Error{fmt::format("group \"{}\": nothing was done in it; the groups are \"{}\"{}", to.group,
                           fmt::join(some, "\", \""), names.size() > some.size() ? " and more" : "")};
}

}  // namespace

Status restrict_report(const Restriction& to, Report& report) {
  if (!to.any()) return {};
  if (Status status = check(to, report); !status.ok()) return status;
  const auto left_out = [&](std::int32_t rank) {
    return !to.ranks.empty() &&
           std::none_of(to.ranks.begin(), to.ranks.end(),
                        [rank](const RankRange& range) { return rank >= range.first && rank <= range.last; });
  };
  report.some_ranks_only = !to.ranks.empty();
  const auto of_others = [&](const auto& row) { return left_out(row.rank); };
  // The summaries are of steady training.
  const bool narrowed = report.steady && !report.steady_only;
  NotSteady rest = keep_steady(report);
  const auto outside = [&](const CollectiveReport& collective) {
    if (!to.group.empty() && collective.group_name != to.group) return true;
    return std::all_of(collective.ranks.begin(), collective.ranks.end(), of_others);
  };
  std::erase_if(report.ranks, of_others);
  std::erase_if(report.steps, of_others);
  std::erase_if(report.counters, of_others);
  std::erase_if(report.account.ranks, of_others);
  if (report.account.late_start && left_out(report.account.late_start->rank))
    report.account.late_start.reset();
  report.account.spent = {};
  for (const RankAccount& rank : report.account.ranks)
    for (std::size_t phase = 0; phase < kSpendingCount; ++phase)
      report.account.spent.ns[phase] += rank.spent.ns[phase];
  std::erase_if(report.collectives, outside);
  std::erase_if(rest.ranks, of_others);
  std::erase_if(rest.steps, of_others);
  std::erase_if(rest.collectives, outside);
  report.groups = summarise_groups(report);
  const auto counts = [&](std::int32_t rank) { return !left_out(rank); };
  report.buckets = summarise_buckets(report, counts);
  report.wait_states = summarise_wait_states(report, counts);
  report.efficiency = parallel_efficiency(report.ranks);
  if (narrowed) restore(std::move(rest), report);
  return {};
}

}  // namespace lockstep::analyzer
