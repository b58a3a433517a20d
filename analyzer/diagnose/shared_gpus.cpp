#include "analyzer/diagnose/shared_gpus.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/model/gpus.h"

namespace lockstep::analyzer {
namespace {

// When the rank had something on its GPU, or launched for it: not, where the launch is not known.
IntervalSet launched_or_on_the_gpu(const RankTrace& rank) {
  std::vector<Interval> intervals;
  for (const Activity& activity : rank.activities) {
    if (!is_on_gpu(rank, activity)) continue;
    const bool known = activity.launch_begin != kUnknownTime;
    intervals.push_back(
        {known ? std::min(activity.launch_begin, activity.begin) : activity.begin, activity.end});
  }
  return IntervalSet::from(std::move(intervals));
}

IntervalSet compute_of(const RankTrace& rank) {
  std::vector<Interval> intervals;
  for (const Activity& activity : rank.activities)
    if (activity.activity_class == Class::compute) intervals.push_back({activity.begin, activity.end});
  return IntervalSet::from(std::move(intervals));
}

// What of `interval` the set does not cover. O(log n + what lies within).
void add_uncovered(const Interval& interval, const IntervalSet& set, std::vector<Interval>& uncovered) {
  Nanoseconds from = interval.begin;
  for (std::size_t i = set.first_ending_after(interval.begin); i < set.intervals().size(); ++i) {
    const Interval& covered = set.intervals()[i];
    if (covered.begin >= interval.end) break;
    if (covered.begin > from) uncovered.push_back({from, covered.begin});
    from = covered.end;
  }
  if (from < interval.end) uncovered.push_back({from, interval.end});
}

}  // namespace

bool is_on_gpu(const RankTrace& rank, const Activity& activity) {
  return activity.activity_class != Class::sync && is_gpu_lane(rank.lanes[activity.lane]);
}

IntervalSet on_the_gpu(const RankTrace& rank) {
  std::vector<Interval> intervals;
  for (const Activity& activity : rank.activities)
    if (is_on_gpu(rank, activity)) intervals.push_back({activity.begin, activity.end});
  return IntervalSet::from(std::move(intervals));
}

std::vector<std::int64_t> waited_for_launches(const Job& job, const Report& report, const StepTable& table) {
  std::map<std::int32_t, IntervalSet> pending;  // of ranks that share a GPU
  for (const std::vector<const RankTrace*>& ranks : ranks_that_share_gpus(job))
    for (const RankTrace* rank : ranks) pending.emplace(rank->rank, launched_or_on_the_gpu(*rank));
  if (pending.empty()) return {};
  std::map<std::int32_t, std::vector<Interval>> waits;  // by the rank that waits
  for (const CollectiveReport& collective : report.collectives) {
    if (!collective.last_arriver) continue;
    const auto late = pending.find(*collective.last_arriver);
    if (late == pending.end()) continue;
    for (const CollectiveRank& rank : collective.ranks) {
      if (rank.rank == late->first || rank.wait_ns <= 0) continue;
      const Nanoseconds begin = report.origin_aligned_ns + rank.arrival_ns;
      add_uncovered({begin, begin + rank.wait_ns}, late->second, waits[rank.rank]);
    }
  }
  std::vector<std::int64_t> waited(table.cells.size());
  for (const RankTrace& rank : job.ranks) {
    const auto found = waits.find(rank.rank);
    if (found == waits.end() || !std::binary_search(table.ranks.begin(), table.ranks.end(), rank.rank))
      continue;
    const IntervalSet exposed = subtract(IntervalSet::from(std::move(found->second)), compute_of(rank));
    const CoverageIndex index(exposed);
    for (std::size_t i = table.index_of(rank.rank); i < waited.size(); i += table.rank_count())
      waited[i] = index.within(table.cells[i]->begin_ns + report.origin_aligned_ns,
                               table.cells[i]->end_ns + report.origin_aligned_ns);
  }
  return waited;
}

}  // namespace lockstep::analyzer
