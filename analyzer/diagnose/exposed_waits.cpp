#include "analyzer/diagnose/exposed_waits.h"

#include <utility>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/compute_intervals.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// Of one rank.
struct Waits {
  std::map<std::int32_t, std::vector<Interval>> by_late_rank;
  std::vector<Interval> transfers;
};

}  // namespace

std::map<std::int32_t, std::int64_t> exposed_waits(
    const Job& job, const Report& report, const std::function<bool(const CollectiveReport&)>& counts) {
  std::map<std::int32_t, Waits> by_rank;
  for (const CollectiveReport& collective : report.collectives) {
    const bool is_counted = collective.last_arriver && counts(collective);
    for (const CollectiveRank& rank : collective.ranks) {
      if (!rank.hidden_known) continue;
      const Nanoseconds begin = report.origin_aligned_ns + rank.arrival_ns;
      Waits& waits = by_rank[rank.rank];
      waits.transfers.push_back({begin + rank.wait_ns, report.origin_aligned_ns + rank.end_ns});
      if (is_counted && rank.rank != *collective.last_arriver && rank.wait_ns > 0)
        waits.by_late_rank[*collective.last_arriver].push_back({begin, begin + rank.wait_ns});
    }
  }
  std::map<std::int32_t, std::int64_t> exposed;
  for (const RankTrace& rank : job.ranks) {
    const auto waits = by_rank.find(rank.rank);
    if (waits == by_rank.end() || waits->second.by_late_rank.empty()) continue;
    const IntervalSet busy = unite(compute_of(rank), IntervalSet::from(std::move(waits->second.transfers)));
    for (auto& [late, intervals] : waits->second.by_late_rank) {
      const IntervalSet waited = subtract(IntervalSet::from(std::move(intervals)), busy);
      exposed[late] = saturating_add(exposed[late], waited.measure());
    }
  }
  return exposed;
}

}  // namespace lockstep::analyzer
