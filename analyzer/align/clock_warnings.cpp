#include "analyzer/align/clock_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/number_lists.h"

namespace lockstep::analyzer {
namespace {

void warn(Job& job, std::string code, std::string message) {
  job.warnings.push_back({std::move(code), std::move(message), kNoRank});
}

std::string in_words(std::int64_t nanoseconds) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  return nanoseconds < kMillisecond ? fmt::format("{:.3g} µs", static_cast<double>(nanoseconds) / 1e3)
                                    : fmt::format("{:.2f} ms", static_cast<double>(nanoseconds) / 1e6);
}

// "the clock of rank 1", "the clocks of ranks 1, 2, 3".
std::string clocks_of(const std::vector<std::int32_t>& ranks) {
  return (ranks.size() == 1 ? "the clock of rank " : "the clocks of ranks ") + list_of_ranks(ranks);
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
  return list_numbers(ranks, kShown);
}

void warn_of_clocks(Job& job, const ClockOutcome& outcome) {
  std::vector<std::int32_t> unrelated, by_wall_clock, by_records;
  std::int64_t uncertainty = 0;
  std::size_t assumed = 0;
  bool hosts_known = false;
  for (const RankTrace& rank : job.ranks) {
    hosts_known = hosts_known || !rank.host.empty();
    if (rank.clock.related && rank.clock.evidence == "assumed") ++assumed;
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
  if (assumed > 1)
    warn(job, "clocks_assumed",
         fmt::format(
             "the files of {} ranks name no host or clock: they are taken to be of one host, on one clock "
             "(`--clocks rank` gives each rank its own)",
             assumed));
  if (!outcome.consistent)
    warn(
        job, "clocks_contradict",
        "no offsets of the hosts' clocks agree with the order in which collectives must have happened: a "
        "clock ran wild, or records were matched that do not belong together; the recorded times are left as "
        "they are");
  if (!outcome.set_clocks.empty())
    warn(job, "clock_set",
         fmt::format("{} was set during the run: times before and after are related one by "
                     "one, those in between may be wrong by as much as it was set",
                     clocks_of(outcome.set_clocks)));
  if (!by_records.empty())
    warn(job, "clocks_by_happened_before",
         fmt::format(
             "no exchange of timestamps relates {} to that of rank {}: read off the order in which their "
             "collectives must have happened, ± {}; shorter waits between them name nobody",
             clocks_of(by_records), own, in_words(uncertainty)));
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
         fmt::format("{} can't be related to that of rank {}: times between them mean nothing",
                     clocks_of(unrelated), own));
}

}  // namespace lockstep::analyzer
