#include "analyzer/diagnose/behind_steps.h"

#include <algorithm>
#include <limits>

#include "analyzer/metrics/waiting_times.h"
#include "analyzer/metrics/windows.h"
#include "base/time_math.h"

namespace lockstep::analyzer {

Behind behind_the_last_step(const FindingContext& context, Phase phase) {
  Behind all;
  LongestRank longest;
  AloneRank alone;
  for (const RankTrace& rank : context.diagnosis.job.ranks) {
    if (rank.steps.empty()) continue;
    const RankWindows windows = find_windows(rank);
    Nanoseconds end = rank.steps.back().end;
    if (!windows.steps.empty()) end = std::max(end, windows.steps.back().window.end);
    const IntervalSet phases = find_phases(rank, context.diagnosis.job.strings)[phase];
    const std::int64_t ns = phases.measure_within(end, std::numeric_limits<Nanoseconds>::max());
    all.all_ns = saturating_add(all.all_ns, ns);
    const std::int64_t own_ns = ns == 0 ? 0
                                        : subtract(phases, communicating_alone(rank))
                                              .measure_within(end, std::numeric_limits<Nanoseconds>::max());
    alone.add(ns, own_ns, rank.rank);
    // Of ranks that wait in it for each other the one that does most itself.
    if (!longest.add(own_ns > 0 ? own_ns : ns > 0 ? 1 : 0, rank.rank)) continue;
    all.longest_own_ns = own_ns;
    all.longest_ns = ns;
    const Nanoseconds begin = std::max(end, phases.intervals()[phases.first_ending_after(end)].begin);
    all.place.rank = rank.rank;
    all.place.begin_ns = begin - context.report.origin_aligned_ns;
    all.place.end_ns = phases.intervals().back().end - context.report.origin_aligned_ns;
  }
  all.rank = alone.alone();
  return all;
}

}  // namespace lockstep::analyzer
