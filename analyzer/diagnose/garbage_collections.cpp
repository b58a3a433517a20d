#include "analyzer/diagnose/garbage_collections.h"

#include <algorithm>
#include <utility>

#include "base/time_math.h"
#include "trace/events/operator_ranges.h"

namespace lockstep::analyzer {
IntervalSet garbage_collections(const RankTrace& rank, const StringTable& strings) {
  std::vector<Interval> collections;
  for (const HostRange& range : rank.host_ranges)
    if (strings.view(range.name) == trace::kGarbageCollection)
      collections.push_back({range.begin, range.end});
  return IntervalSet::from(std::move(collections));
}

std::vector<std::int64_t> garbage_by_step(const FindingContext& context, const StepTable& steps,
                                          std::int32_t rank) {
  const Job& job = context.diagnosis.job;
  IntervalSet collected;
  for (const RankTrace& trace : job.ranks)
    if (trace.rank == rank) collected = garbage_collections(trace, job.strings);
  const std::int64_t origin = context.report.origin_aligned_ns;
  std::vector<std::int64_t> times;
  for (std::size_t step = 0; step < steps.steps.size(); ++step) {
    const StepReport& cell = steps.cell(step, steps.index_of(rank));
    times.push_back(collected.measure_within(cell.begin_ns + origin, cell.end_ns + origin));
  }
  return times;
}

std::optional<GarbageInTurn> garbage_in_turn(const FindingContext& context, const StepTable& steps) {
  std::vector<std::vector<std::int64_t>>
      left;  // [rank][step]: of collections, what no lateness was told of yet
  for (const std::int32_t rank : steps.ranks) left.push_back(garbage_by_step(context, steps, rank));
  std::vector<std::int64_t> waited_for(left.size());
  GarbageInTurn found;
  for (std::size_t step = 0; step < steps.steps.size(); ++step) {
    const bool has_previous = step > 0 && steps.steps[step - 1] == steps.steps[step] - 1;
    std::int64_t latest = 0, most = 0;
    std::size_t collector = 0;
    for (std::size_t rank = 0; rank < left.size(); ++rank) {
      const std::int64_t late = std::max<std::int64_t>(0, steps.late_by_waits(step, rank));
      latest = std::max(latest, late);
      const std::int64_t collected =
          saturating_add(left[rank][step], has_previous ? left[rank][step - 1] : 0);
      if (std::min(late, collected) <= most) continue;
      most = std::min(late, collected);
      collector = rank;
    }
    found.late_ns = saturating_add(found.late_ns, latest);
    if (most == 0) continue;
    const std::int64_t of_previous = has_previous ? std::min(most, left[collector][step - 1]) : 0;
    if (has_previous) left[collector][step - 1] -= of_previous;
    left[collector][step] -= most - of_previous;
    waited_for[collector] += most;
    found.ns = saturating_add(found.ns, most);
  }
  found.ranks = static_cast<std::size_t>(
      std::count_if(waited_for.begin(), waited_for.end(), [](std::int64_t ns) { return ns > 0; }));
  if (found.ranks < 2 || found.ns < found.late_ns / 2) return std::nullopt;
  return found;
}

}  // namespace lockstep::analyzer
