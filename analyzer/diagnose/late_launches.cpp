#include "analyzer/diagnose/late_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/diagnose/cell_statistics.h"
#include "analyzer/diagnose/late_compute.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr double kLeastTimes = 1.2;

// [step · ranks + rank], as the table's cells; absent where a rank computes on a CPU; 0 where launches
// are not recorded. All kernels of a CUDA graph are one launch.
std::optional<std::vector<double>> launches_of_steps(const Job& job, const StepTable& steps) {
  std::vector<double> counts(steps.cells.size());
  for (const RankTrace& trace : job.ranks) {
    if (std::find(steps.ranks.begin(), steps.ranks.end(), trace.rank) == steps.ranks.end()) continue;
    if (trace.device == "cpu") return std::nullopt;
    std::map<std::int64_t, std::set<Nanoseconds>> launched;
    for (const Activity& activity : trace.activities)
      if (activity.activity_class == Class::compute && activity.step != kNone &&
          activity.launch_begin != kUnknownTime)
        launched[trace.steps[activity.step].number].insert(activity.launch_begin);
    const std::size_t rank = steps.index_of(trace.rank);
    for (std::size_t step = 0; step < steps.steps.size(); ++step)
      counts[step * steps.rank_count() + rank] = static_cast<double>(launched[steps.steps[step]].size());
  }
  return counts;
}

}  // namespace

std::optional<LateReason> reason_of_launches(const FindingContext& context, const StepTable& steps,
                                             const RankLateness& late) {
  if (context.on_cpu) return std::nullopt;
  const std::optional<std::vector<double>> launches = launches_of_steps(context.diagnosis.job, steps);
  if (!launches) return std::nullopt;
  const auto times = amount_beside_others(steps, *launches, steps.index_of(late.rank));
  if (!times || *times < kLeastTimes) return std::nullopt;
  const auto idle = static_cast<double>(late.cause_ns + late.others_ns);
  if ((1 - 1 / *times) * idle < kExplains * static_cast<double>(late.cause_ns)) return std::nullopt;
  LateReason reason;
  reason.code = "more_launches";
  reason.doing =
      fmt::format("has more to launch than the others ({} longer)", format_duration(late.cause_ns));
  reason.evidence = {
      in_a_step("leaves its device idle with nothing launched", late),
      fmt::format("in a step it launches {:.2f} times as much as the others (kernels, or graphs of them)",
                  *times)};
  reason.remedy =
      context.report.pipeline.empty()
          ? "balance the work over ranks: layers and experts by cost, batches by length. Fewer launches "
            "(`torch.compile(mode=\"reduce-overhead\")`, CUDA graphs) cost every host less"
          : "move layers from its stage to the others. Fewer launches "
            "(`torch.compile(mode=\"reduce-overhead\")`, CUDA graphs) cost every host less";
  return reason;
}

}  // namespace lockstep::analyzer
