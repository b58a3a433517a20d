#include "analyzer/diagnose/blame.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/diagnose/exposed_waits.h"
#include "analyzer/diagnose/root_cause.h"
#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/model/stopped.h"
#include "base/time_math.h"

namespace lockstep::analyzer {

std::int64_t blame_in(const CollectiveReport& collective) {
  std::int64_t sum = 0;
  for (const CollectiveRank& rank : collective.ranks) {
    if (rank.rank != *collective.last_arriver) sum = saturating_add(sum, rank.wait_ns);
  }
  return sum;
}

// Waiting under compute costs nothing.
std::int64_t exposed_in(const CollectiveReport& collective) {
  std::int64_t sum = 0;
  for (const CollectiveRank& rank : collective.ranks) {
    if (rank.rank == *collective.last_arriver || !rank.hidden_known) continue;
    sum = saturating_add(sum, rank.wait_ns - rank.hidden_ns);
  }
  return sum;
}

std::vector<LateCause> causes_of_lateness(const Diagnosis& diagnosis, const Report& report, std::int32_t rank,
                                          const std::function<bool(const CollectiveReport&)>& counts) {
  struct Found {
    LateCause late;
    std::vector<std::pair<std::int64_t, const Delay*>> delays;  // with what waited for each
  };
  std::map<std::pair<Cause, bool>, Found> by_cause;
  for (const Delay& delay : diagnosis.delays.delays) {
    const std::uint32_t index = diagnosis.collective_index(delay.match);
    if (index == kNone || delay.excess_ns <= 0) continue;
    const CollectiveReport& collective = report.collectives[index];
    if (collective.last_arriver != rank || (counts && !counts(collective))) continue;
    const Delay& root = root_of(diagnosis.delays, delay);
    auto& [late, delays] = by_cause[{root.cause, root.entered_late}];
    late.cause = root.cause;
    late.entered_late = root.entered_late;
    ++late.operations;
    delays.emplace_back(blame_in(collective), &delay);
    late.blame_ns = saturating_add(late.blame_ns, delays.back().first);
  }
  std::vector<LateCause> result;
  for (auto& [cause, found] : by_cause) {
    std::stable_sort(found.delays.begin(), found.delays.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [blame, delay] : found.delays) found.late.delays.push_back(delay);
    result.push_back(std::move(found.late));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const LateCause& a, const LateCause& b) { return a.blame_ns > b.blame_ns; });
  return result;
}

std::vector<BlameReport> assign_blame(const Diagnosis& diagnosis, const Report& report,
                                      const std::stop_token& stop) {
  std::map<std::int32_t, BlameReport> by_rank;
  std::map<std::int32_t, std::int64_t> in_partial;
  for (const CollectiveReport& collective : report.collectives) {
    throw_if_stopped(stop);
    if (!collective.last_arriver) continue;
    BlameReport& blame = by_rank[*collective.last_arriver];
    blame.rank = *collective.last_arriver;
    ++blame.collectives;
    blame.blame_ns = saturating_add(blame.blame_ns, blame_in(collective));
    if (collective.partial) {
      std::int64_t& sum = in_partial[blame.rank];
      sum = saturating_add(sum, blame_in(collective));
    }
  }
  const std::map<std::int32_t, std::int64_t> exposed =
      exposed_waits(diagnosis.job, report, [](const CollectiveReport&) { return true; });
  const ScheduledWaits scheduled(diagnosis.job, report, diagnosis.pipeline_regions);
  std::vector<BlameReport> result;
  for (auto& [rank, blame] : by_rank) {
    throw_if_stopped(stop);
    if (blame.blame_ns <= 0) continue;
    if (const auto found = exposed.find(rank); found != exposed.end()) blame.exposed_ns = found->second;
    blame.partial = in_partial[rank] > blame.blame_ns / 2;
    scheduled.note_in(blame);
    const std::vector<LateCause> causes = causes_of_lateness(
        diagnosis, report, rank,
        [&scheduled](const CollectiveReport& collective) { return !scheduled.contains(collective); });
    // One that costs much less than the first is not why, where nothing can be said of that.
    for (const LateCause& cause : causes) {
      if (!blame.root_cause.empty() || cause.blame_ns < causes.front().blame_ns / 2) break;
      blame.root_cause = describe_root_cause(diagnosis, cause);
    }
    result.push_back(std::move(blame));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const BlameReport& a, const BlameReport& b) { return a.blame_ns > b.blame_ns; });
  return result;
}

}  // namespace lockstep::analyzer
