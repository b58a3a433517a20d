#include "analyzer/diagnose/shared_gpus.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/metrics/compute_intervals.h"
#include "analyzer/model/gpus.h"

namespace lockstep::analyzer {
namespace {

using Sharers = std::vector<std::vector<const RankTrace*>>;

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

std::int64_t within(const CoverageIndex& index, const StepReport& cell, const Report& report) {
  return index.within(cell.begin_ns + report.origin_aligned_ns, cell.end_ns + report.origin_aligned_ns);
}

std::vector<std::int64_t> waited_for_launches(const Job& job, const Report& report, const StepTable& table,
                                              const Sharers& sharers) {
  std::map<std::int32_t, IntervalSet> pending;  // of ranks that share a GPU
  for (const std::vector<const RankTrace*>& ranks : sharers)
    for (const RankTrace* rank : ranks) pending.emplace(rank->rank, launched_or_on_the_gpu(*rank));
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
      waited[i] = within(index, *table.cells[i], report);
  }
  return waited;
}

// Of the ranks of one GPU.
void add_computes_beyond(const Report& report, const StepTable& table,
                         const std::vector<const RankTrace*>& ranks,
                         std::vector<std::int64_t>& computes_beyond) {
  const auto is_missing = [&](const RankTrace* rank) {
    return !std::binary_search(table.ranks.begin(), table.ranks.end(), rank->rank);
  };
  if (std::any_of(ranks.begin(), ranks.end(), is_missing)) return;
  std::vector<IntervalSet> busy;
  for (const RankTrace* rank : ranks) busy.push_back(on_the_gpu(*rank));
  const IntervalSet shared = at_once(busy);
  const auto turns = static_cast<std::int64_t>(ranks.size());
  const std::size_t count = table.rank_count(), steps = table.steps.size();
  std::vector<std::int64_t> least(steps * ranks.size()), all(steps * ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const IntervalSet compute = compute_of(*ranks[i]), in_turn = intersect(compute, shared);
    const CoverageIndex computed(compute), computed_in_turn(in_turn);
    for (std::size_t step = 0; step < steps; ++step) {
      const StepReport& cell = table.cell(step, table.index_of(ranks[i]->rank));
      const std::int64_t whole = within(computed, cell, report),
                         part = within(computed_in_turn, cell, report);
      all[step * ranks.size() + i] = whole;
      least[step * ranks.size() + i] = whole - part + part / turns;
    }
  }
  for (std::size_t step = 0; step < steps; ++step) {
    // No other rank than the one that computes longest can do so for more than that one takes.
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(step * ranks.size());
    const auto end = begin + turns;
    const auto longest = std::max_element(begin, end);
    std::int64_t others = 0;
    for (auto one = begin; one != end; ++one)
      if (one != longest) others = std::max(others, *one);
    const auto i = static_cast<std::size_t>(longest - begin);
    computes_beyond[step * count + table.index_of(ranks[i]->rank)] =
        std::max<std::int64_t>(0, least[step * ranks.size() + i] - others);
  }
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

IntervalSet at_once(std::span<const IntervalSet> on_the_gpu) {
  std::vector<std::pair<Nanoseconds, int>> changes;
  for (const IntervalSet& one : on_the_gpu)
    for (const Interval& interval : one.intervals()) {
      changes.emplace_back(interval.begin, 1);
      changes.emplace_back(interval.end, -1);
    }
  std::sort(changes.begin(), changes.end());
  IntervalSet twice;
  Nanoseconds since = 0;
  for (int busy = 0; const auto& [time, change] : changes) {
    if (busy >= 2) twice.append(since, time);
    busy += change;
    since = time;
  }
  return twice;
}

SharedGpuTimes shared_gpu_times(const Job& job, const Report& report, const StepTable& table) {
  const Sharers sharers = ranks_that_share_gpus(job);
  if (sharers.empty()) return {};
  SharedGpuTimes times;
  times.waited_for_launches = waited_for_launches(job, report, table, sharers);
  times.computes_beyond.resize(table.cells.size());
  for (const std::vector<const RankTrace*>& ranks : sharers)
    add_computes_beyond(report, table, ranks, times.computes_beyond);
  return times;
}

}  // namespace lockstep::analyzer
