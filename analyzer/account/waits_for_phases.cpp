#include "analyzer/account/waits_for_phases.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/metrics/compute_intervals.h"

namespace lockstep::analyzer {
namespace {

constexpr std::array kHoldingUp{Phase::compilation, Phase::checkpoint, Phase::evaluation, Phase::start_up};

// What of [begin, end) the set covers.
void add_part(const IntervalSet& set, Nanoseconds begin, Nanoseconds end, std::vector<Interval>& parts) {
  const std::vector<Interval>& intervals = set.intervals();
  for (std::size_t i = set.first_ending_after(begin); i < intervals.size() && intervals[i].begin < end; ++i)
    parts.push_back({std::max(begin, intervals[i].begin), std::min(end, intervals[i].end)});
}

}  // namespace

std::vector<Phases> with_waits_for(const Job& job, std::span<const RankWindows> windows,
                                   std::span<const Phases> phases, const Matching& matching,
                                   std::span<const MatchWaits> of_matches, const JobWaits& waits) {
  std::vector<Phases> holding_up(phases.begin(), phases.end());
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    const Interval start = start_of(job.ranks[rank], windows[rank]);
    if (start.begin >= start.end) continue;
    IntervalSet& own = holding_up[rank][Phase::start_up];
    own = unite(own, IntervalSet::from({start}));
  }
  const auto holds_up = [&](std::uint32_t rank) {
    return std::any_of(kHoldingUp.begin(), kHoldingUp.end(),
                       [&](Phase phase) { return !holding_up[rank][phase].empty(); });
  };
  std::vector<std::array<std::vector<Interval>, kHoldingUp.size()>> waited(job.ranks.size());
  for (std::size_t i = 0; i < matching.matches.size(); ++i) {
    if (!of_matches[i].last_arriver) continue;
    const std::span<const MatchRecord> records = matching.records_of(matching.matches[i]);
    const std::uint32_t last = records[*of_matches[i].last_arriver].rank;
    if (!holds_up(last)) continue;
    for (const MatchRecord& record : records) {
      const std::int64_t wait = wait_of(job, waits, record);
      if (record.rank == last || wait <= 0) continue;
      const Nanoseconds begin = activity_of(job, record).begin;
      for (std::size_t phase = 0; phase < kHoldingUp.size(); ++phase)
        add_part(holding_up[last][kHoldingUp[phase]], begin, begin + wait, waited[record.rank][phase]);
    }
  }
  std::vector<Phases> result(phases.begin(), phases.end());
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    IntervalSet compute;
    for (std::size_t phase = 0; phase < kHoldingUp.size(); ++phase) {
      if (waited[rank][phase].empty()) continue;
      if (compute.empty()) compute = compute_of(job.ranks[rank]);
      IntervalSet& own = result[rank][kHoldingUp[phase]];
      own = unite(own, subtract(IntervalSet::from(std::move(waited[rank][phase])), compute));
    }
  }
  return result;
}

}  // namespace lockstep::analyzer
