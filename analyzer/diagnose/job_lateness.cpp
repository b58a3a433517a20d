#include "analyzer/diagnose/job_lateness.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/diagnose/blame.h"
#include "analyzer/diagnose/host_pace.h"
#include "analyzer/diagnose/root_waits.h"
#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/diagnose/shared_gpus.h"
#include "analyzer/intervals/median.h"
#include "analyzer/model/warns_of.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// Ranks (indices of the table) by the stage of a pipeline that they run: all first stages together.
std::map<std::int32_t, std::set<std::size_t>> ranks_by_stage(const Report& report, const StepTable& table) {
  std::map<std::int32_t, std::set<std::size_t>> ranks;
  for (const PipelineReport& pipeline : report.pipeline)
    for (const PipelineStage& stage : pipeline.stages_detail) {
      const auto rank = std::lower_bound(table.ranks.begin(), table.ranks.end(), stage.rank);
      if (rank != table.ranks.end() && *rank == stage.rank)
        ranks[stage.stage].insert(static_cast<std::size_t>(rank - table.ranks.begin()));
    }
  return ranks;
}

// Stages run different programs, and the host has more to do on one than on another: what a stage idles more
// than the others counts by itself from this share of a step on. Healthy stages that share their cores with
// other programs differ by up to 2.8 %, a stage that is held up for 30 ms of 110 by 8 % and more.
constexpr std::int64_t kIdlePercent = 5;
constexpr std::int64_t kNotCounted = std::numeric_limits<std::int64_t>::min();

// By how much more than the other ranks each idled while it was waited for: [step · ranks + rank]. Not
// counted of ranks of which the mean is not worth it.
std::vector<std::int64_t> idle_excess(const StepTable& table) {
  const std::size_t count = table.rank_count();
  std::vector<std::int64_t> excess, idle(count), sums(count);
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    for (std::size_t rank = 0; rank < count; ++rank) idle[rank] = table.idle(step, rank).ns;
    const std::vector<std::int64_t> of_step = excess_over_others(idle);
    for (std::size_t rank = 0; rank < count; ++rank) sums[rank] = saturating_add(sums[rank], of_step[rank]);
    excess.insert(excess.end(), of_step.begin(), of_step.end());
  }
  const auto steps = static_cast<std::int64_t>(std::max<std::size_t>(1, table.steps.size()));
  for (std::size_t i = 0; i < excess.size(); ++i)
    if (sums[i % count] / steps < table.mean_step_ns * kIdlePercent / 100) excess[i] = kNotCounted;
  return excess;
}

// Waits for a stage are in part its schedule's, also where it computes more than the others: it is late by no
// more than what it does beyond the other ranks, or beyond those of its own stage. What it idles while it is
// waited for is its own, also where another one computes longer.
void limit_to_own_excess(const Report& report, StepTable& table) {
  const std::map<std::int32_t, std::set<std::size_t>> stages = ranks_by_stage(report, table);
  const std::size_t count = table.rank_count();
  const std::vector<std::int64_t> idle = idle_excess(table);
  std::vector<std::int64_t> busy(count), of_stage;
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    for (std::size_t rank = 0; rank < count; ++rank) busy[rank] = busy_time(table, step, rank);
    std::vector<std::int64_t> excess = excess_over_others(busy);
    for (const auto& [stage, ranks] : stages) {
      if (ranks.size() < 2) continue;
      of_stage.clear();
      for (const std::size_t rank : ranks) of_stage.push_back(busy[rank]);
      const std::vector<std::int64_t> beyond_stage = excess_over_others(of_stage);
      for (std::size_t i = 0; const std::size_t rank : ranks)
        excess[rank] = std::max(excess[rank], beyond_stage[i++]);
    }
    for (std::size_t rank = 0; rank < count; ++rank) {
      const std::int64_t of_idle = idle[step * count + rank];
      std::int64_t& late = table.late_ns[step * count + rank];
      late = std::min(late, std::max(excess[rank], of_idle));
    }
  }
}

}  // namespace

namespace {

StepTable table_of_waits(const Job& job, const Report& report, const ScheduledWaits& scheduled) {
  const bool staged =
      std::any_of(report.pipeline.begin(), report.pipeline.end(),
                  [](const PipelineReport& pipeline) { return !pipeline.stages_detail.empty(); });
  if (!staged) {
    const RootWaits roots(job, report);
    return make_step_table(report, nullptr, [&roots](const StepReport& step) {
      return roots.of(step.rank, step.begin_ns, step.end_ns);
    });
  }
  std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> waited;
  for (const CollectiveReport& collective : report.collectives) {
    if (!collective.step || !collective.last_arriver) continue;
    std::int64_t& sum = waited[{*collective.step, *collective.last_arriver}];
    sum = saturating_add(sum, scheduled.off_schedule_in(collective));
  }
  const auto others = static_cast<std::int64_t>(std::max<std::size_t>(2, report.ranks.size()) - 1);
  StepTable table = make_step_table(report, [&](std::int64_t step, std::int32_t rank) {
    const auto found = waited.find({step, rank});
    const std::int64_t off_schedule = found == waited.end() ? 0 : found->second;
    const std::int64_t idled =
        scheduled.is_on_schedule(rank) ? scheduled.idle().of(step, rank).exposed_ns : 0;
    return saturating_add(off_schedule, idled) / others;
  });
  for (const std::int64_t step : table.steps)
    for (const std::int32_t rank : table.ranks) table.idle_cells.push_back(scheduled.idle().of(step, rank));
  limit_to_own_excess(report, table);
  return table;
}

}  // namespace

StepTable table_of_steps(const Job& job, const Report& report, const ScheduledWaits& scheduled) {
  if (warns_of(report.warnings, kStepsApart)) return {};
  StepTable table = table_of_waits(job, report, scheduled);
  limit_to_hosts(HostPace(job), shared_gpu_times(job, report, table), table);
  return table;
}

StepTable table_of_steps(const Job& job, const Report& report, const std::vector<IntervalSet>& regions) {
  return table_of_steps(job, report, ScheduledWaits(job, report, regions));
}

}  // namespace lockstep::analyzer
