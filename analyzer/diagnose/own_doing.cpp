#include "analyzer/diagnose/own_doing.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/diagnose/garbage_collections.h"
#include "analyzer/diagnose/host_shortage.h"
#include "analyzer/diagnose/idle_gaps.h"
#include "analyzer/intervals/median.h"
#include "analyzer/lateness/core_waits.h"
#include "base/time_math.h"

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

// Its threads run longer than any other's, so that it is no want of cores that makes the same work longer,
// and no more than half of its lateness is waiting for a core that it had not waited with less to run.
bool runs_longer(const StepTable& steps, const RankLateness& late) {
  constexpr std::int64_t kRan = 4, kOfLateness = 2;  // a quarter; a half
  std::int64_t others_ran = 0;
  for (std::size_t rank = 0; rank < steps.rank_count(); ++rank) {
    if (steps.ranks[rank] == late.rank) continue;
    std::int64_t ran = 0;
    for (std::size_t step = 0; step < steps.steps.size(); ++step)
      ran = saturating_add(ran, steps.cell(step, rank).measures.on_core_ns.value_or(0));
    others_ran = std::max(others_ran, ran / static_cast<std::int64_t>(steps.steps.size()));
  }
  const std::optional<std::int64_t> more = mean_excess(steps, late.rank, &Measures::on_core_ns);
  const std::optional<std::int64_t> waited = core_wait_excess(steps, late);
  return more && kRan * *more >= others_ran && waited && kOfLateness * *waited < late.mean_ns;
}

}  // namespace

std::optional<RunsLonger> who_runs_longer(const FindingContext& context, const HostShortage& shortage) {
  constexpr std::int64_t kOfOthers = 1, kOfWindow = 20;  // as much again; a twentieth
  const StepTable& table = context.steps;
  if (!context.on_cpu || !context.report.lateness.can_tell) return std::nullopt;
  std::vector<std::size_t> ranks;  // of the table, that are short of cores
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank)
    if (std::binary_search(shortage.ranks.begin(), shortage.ranks.end(), table.ranks[rank]))
      ranks.push_back(rank);
  if (ranks.size() < 2 || ranks.size() < shortage.ranks.size()) return std::nullopt;
  std::vector<std::int64_t> ran(table.rank_count()), longest_in(table.rank_count());
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    std::int64_t most = -1;
    std::optional<std::size_t> longest;  // alone
    for (const std::size_t rank : ranks) {
      const std::optional<std::int64_t> on_core = table.cell(step, rank).measures.on_core_ns;
      if (!on_core) return std::nullopt;
      ran[rank] = saturating_add(ran[rank], *on_core);
      if (*on_core == most) longest.reset();
      if (*on_core <= most) continue;
      most = *on_core;
      longest = rank;
    }
    if (longest) ++longest_in[*longest];
  }
  const std::size_t own = *std::max_element(ranks.begin(), ranks.end(),
                                            [&ran](std::size_t a, std::size_t b) { return ran[a] < ran[b]; });
  std::vector<std::int64_t> others;
  for (const std::size_t rank : ranks)
    if (rank != own) others.push_back(ran[rank]);
  std::int64_t window_ns = 0;
  for (std::size_t step = 0; step < table.steps.size(); ++step)
    window_ns = saturating_add(window_ns, table.cell(step, own).measures.window_ns);
  const RunsLonger found{table.ranks[own], ran[own], lower_median(std::move(others))};
  const std::int64_t more = found.ran_ns - found.others_ran_ns;
  const bool is_most_often = longest_in[own] * 5 >= static_cast<std::int64_t>(table.steps.size()) * 4;
  return is_most_often && more >= found.others_ran_ns / kOfOthers && more >= window_ns / kOfWindow
             ? std::optional(found)
             : std::nullopt;
}

bool is_said_to_run_longer(const FindingContext& context, std::int32_t rank) {
  const HostShortage* const shortage = shortage_of(context.shortages, rank);
  if (shortage == nullptr) return false;
  const std::optional<RunsLonger> longer = who_runs_longer(context, *shortage);
  return longer && longer->rank == rank;
}

bool collects_garbage_alone(const FindingContext& context, const StepTable& steps, const RankLateness& late) {
  constexpr std::int64_t kOfLateness = 2, kOthers = 10;  // a half; a tenth
  constexpr double kConsistent = 0.8;                    // of the steps
  const auto sum = [](const std::vector<std::int64_t>& times) {
    return std::accumulate(times.begin(), times.end(), std::int64_t{0});
  };
  const std::vector<std::int64_t> own = garbage_by_step(context, steps, late.rank);
  const auto times = std::count_if(own.begin(), own.end(), [](std::int64_t ns) { return ns > 0; });
  const auto count = static_cast<std::int64_t>(own.size());
  if (own.empty() || static_cast<double>(times) < kConsistent * static_cast<double>(count) ||
      kOfLateness * (sum(own) / count) < late.mean_ns)
    return false;
  return std::all_of(steps.ranks.begin(), steps.ranks.end(), [&](std::int32_t rank) {
    return rank == late.rank || kOthers * sum(garbage_by_step(context, steps, rank)) <= sum(own);
  });
}

bool is_own_doing(const FindingContext& context, const StepTable& steps, const RankLateness& late) {
  if (late.cause == Cause::compute) return computes_longer_on_cores(steps, late) || runs_longer(steps, late);
  if (late.cause != Cause::host_bound && late.cause != Cause::data_wait) return false;
  // A stage that idles with too few cores may have none: it does something where a line of its own shows it.
  if (is_late_by_idling(context.steps, late))
    return place_of_idling(context.diagnosis.job, context.scheduled.idle(), late.rank).has_value();
  if (late.cause == Cause::host_bound && collects_garbage_alone(context, steps, late) &&
      runs_longer(steps, late))
    return true;
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
