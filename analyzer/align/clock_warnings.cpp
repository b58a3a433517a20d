#include "analyzer/align/clock_warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

namespace lockstep::analyzer {
namespace {

void warn(Job& job, std::string code, std::string message) {
  job.warnings.push_back({std::move(code), std::move(message), kNoRank});
}

std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{:.3g} µs", static_cast<double>(nanoseconds) / 1e3);
}

// The first rank of the job's own clock: what the others are related to.
std::int32_t first_of_own_clock(const Job& job) {
  const auto first = std::find_if(job.ranks.begin(), job.ranks.end(),
                                  [](const RankTrace& rank) { return rank.clock.domain == 0; });
  return first == job.ranks.end() ? kNoRank : first->rank;
}

}  // namespace

std::string list_of_ranks(const std::vector<std::int32_t>& ranks) {
  constexpr std::size_t kShown = 16;
  const std::vector<std::int32_t> shown(
      ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), kShown)));
  return fmt::format("{}{}", fmt::join(shown, ", "), ranks.size() > kShown ? ", …" : "");
}

void warn_of_clocks(Job& job, const ClockOutcome& outcome) {
  std::vector<std::int32_t> unrelated, by_wall_clock, by_records;
  std::int64_t uncertainty = 0;
  bool hosts_known = false;
  for (const RankTrace& rank : job.ranks) {
    hosts_known = hosts_known || !rank.host.empty();
    if (!rank.clock.related)
      unrelated.push_back(rank.rank);
    else if (rank.clock.evidence == "wall clock")
      by_wall_clock.push_back(rank.rank);
    else if (rank.clock.evidence == "happened-before") {
      by_records.push_back(rank.rank);
      uncertainty = std::max(uncertainty, rank.clock.uncertainty_ns);
    }
  }
  const std::int32_t own = first_of_own_clock(job);
  if (!outcome.consistent)
    warn(
        job, "clocks_contradict",
        "no offsets of the hosts' clocks agree with the order in which collectives must have happened: a "
        "clock ran "
        "wild, or records were matched that do not belong together; the recorded times are left as they are");
  if (!outcome.set_clocks.empty())
    warn(job, "clock_set",
         fmt::format(
             "the clock of rank {} was set during the run: its times before and after are related one by "
             "one, those in between may be wrong by as much as it was set",
             list_of_ranks(outcome.set_clocks)));
  if (!by_records.empty())
    warn(job, "clocks_by_happened_before",
         fmt::format(
             "no exchange of timestamps relates the clock of rank {} to that of rank {}: read off the order "
             "in "
             "which their collectives must have happened, ± {}; shorter waits between them name nobody",
             list_of_ranks(by_records), own, microseconds(uncertainty)));
  if (!by_wall_clock.empty())
    warn(job, "clocks_by_wall_clock",
         fmt::format(
             "{} rank {}'s ({}) are related by the hosts' wall clocks alone, taken to agree within 1 ms: "
             "waits between hosts are as good as that",
             hosts_known ? "ranks on other hosts than"
                         : "the files name no hosts; ranks that surely are on others than",
             own, list_of_ranks(by_wall_clock)));
  if (!unrelated.empty())
    warn(job, "clocks_unrelated",
         fmt::format(
             "the clock of rank {} can't be related to that of rank {}: times between them mean nothing",
             list_of_ranks(unrelated), own));
}

}  // namespace lockstep::analyzer
