#include "analyzer/diagnose/own_doing.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/diagnose/host_shortage.h"
#include "analyzer/diagnose/idle_gaps.h"
#include "analyzer/intervals/median.h"
#include "analyzer/lateness/core_waits.h"

namespace lockstep::analyzer {

bool has_fewer_cores(const Job& job, std::int32_t rank) {
  const auto own = std::find_if(job.ranks.begin(), job.ranks.end(),
                                [&](const RankTrace& trace) { return trace.rank == rank; });
  if (own == job.ranks.end() || count_cores(own->core_set) == 0) return false;
  bool others = false;
  for (const RankTrace& trace : job.ranks) {
    if (trace.rank == rank || trace.host != own->host) continue;
    if (count_cores(trace.core_set) <= count_cores(own->core_set)) return false;
    others = true;
  }
  return others;
}

namespace {

// What a rank computes longer while it has a core.
bool computes_longer_on_cores(const StepTable& steps, const RankLateness& late) {
  constexpr std::int64_t kOfLateness = 2, kOfOthers = 4;  // a half; a quarter
  const std::optional<std::int64_t> waited = run_queue_excess(steps, late.rank);
  if (!waited) return false;
  const std::int64_t on_cores = late.cause_ns - std::max<std::int64_t>(0, *waited);
  return kOfLateness * on_cores >= late.mean_ns && kOfOthers * on_cores >= late.others_ns;
}

}  // namespace

bool is_own_doing(const FindingContext& context, const StepTable& steps, const RankLateness& late) {
  if (late.cause == Cause::compute) return computes_longer_on_cores(steps, late);
  if (late.cause != Cause::host_bound && late.cause != Cause::data_wait) return false;
  // A stage that idles with too few cores may have none: it does something where a line of its own shows it.
  if (is_late_by_idling(context.steps, late))
    return place_of_idling(context.diagnosis.job, context.scheduled.idle(), late.rank).has_value();
  // Else its reason would be that it waits for a core.
  if (late.cause == Cause::host_bound &&
      2 * run_queue_excess(context.steps, late.rank).value_or(0) >= late.mean_ns)
    return false;
  constexpr double kOwn = 0.15;
  std::int64_t own = 0;
  std::vector<std::int64_t> others;
  for (const RankTrace& trace : context.diagnosis.job.ranks) {
    const GapTimes times = times_of_gaps(trace, context.report, *late.cause);
    if (trace.rank == late.rank) {
      own = times.all_ns - times.without_core_ns;
    } else {
      others.push_back(times.all_ns - times.without_core_ns);
    }
  }
  if (others.empty()) return false;
  const auto count = static_cast<double>(std::max<std::size_t>(1, context.steps.steps.size()));
  return static_cast<double>(own - lower_median(std::move(others))) / count >=
         kOwn * static_cast<double>(late.cause_ns);
}

}  // namespace lockstep::analyzer
