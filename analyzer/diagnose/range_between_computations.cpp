#include "analyzer/diagnose/range_between_computations.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/diagnose/host_names.h"
#include "analyzer/diagnose/idle_gaps.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/intervals/median.h"
#include "trace/events/wait_range.h"

namespace lockstep::analyzer {
namespace {

using TimeByName = std::map<std::uint32_t, std::int64_t>;

// Between its computations, in these steps. Of kNone: what lies in no range.
TimeByName times_of_ranges(const FindingContext& context, const StepTable& steps, std::size_t index) {
  const RankTrace& trace = context.diagnosis.job.ranks[index];
  const std::int64_t origin = context.report.origin_aligned_ns;
  std::vector<Interval> windows;
  for (std::size_t step = 0; step < steps.steps.size(); ++step) {
    const StepReport& cell = steps.cell(step, steps.index_of(trace.rank));
    windows.push_back({cell.begin_ns + origin, cell.end_ns + origin});
  }
  const IntervalSet gaps =
      intersect(gaps_of(trace, context.report, Cause::host_bound), IntervalSet::from(std::move(windows)));
  TimeByName times;
  std::vector<Interval> named;
  for (const std::vector<HostSpan>& thread : context.diagnosis.host_spans[index])
    for (const HostSpan& span : thread) {
      // What waits is no work of the rank's.
      if (context.diagnosis.job.strings.view(span.name) == trace::kWaitForCommunication) continue;
      times[span.name] += gaps.measure_within(span.begin, span.end);
      named.push_back({span.begin, span.end});
    }
  times[kNone] += subtract(gaps, IntervalSet::from(std::move(named))).measure();
  return times;
}

}  // namespace

std::optional<std::uint32_t> range_between_computations(const FindingContext& context, const StepTable& steps,
                                                        const RankLateness& late, double least) {
  const std::vector<RankTrace>& ranks = context.diagnosis.job.ranks;
  TimeByName own;
  std::vector<TimeByName> others;
  for (std::size_t index = 0; index < ranks.size(); ++index) {
    if (std::find(steps.ranks.begin(), steps.ranks.end(), ranks[index].rank) == steps.ranks.end()) continue;
    TimeByName times = times_of_ranges(context, steps, index);
    if (ranks[index].rank == late.rank)
      own = std::move(times);
    else
      others.push_back(std::move(times));
  }
  std::optional<std::uint32_t> longest;
  double most = least * static_cast<double>(late.cause_ns) * static_cast<double>(steps.steps.size());
  for (const auto& [name, own_ns] : own) {
    std::vector<std::int64_t> beside;
    for (const TimeByName& times : others) {
      const auto found = times.find(name);
      beside.push_back(found == times.end() ? 0 : found->second);
    }
    const auto longer = static_cast<double>(own_ns - (beside.empty() ? 0 : lower_median(std::move(beside))));
    if (longer <= 0 || longer < most) continue;
    longest = name;
    most = longer;
  }
  // Most of it has no name.
  if (longest == kNone) return std::nullopt;
  return longest;
}

}  // namespace lockstep::analyzer
