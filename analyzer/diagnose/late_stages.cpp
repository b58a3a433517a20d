#include "analyzer/diagnose/late_stages.h"

#include <algorithm>
#include <cstddef>

#include "analyzer/diagnose/late_reason.h"
#include "analyzer/intervals/interval_set.h"
#include "base/time_math.h"

namespace lockstep::analyzer {

LateStages said_of_late_stages(const std::vector<Finding>& findings) {
  LateStages late;
  for (const Finding& finding : findings) {
    if (finding.accuses != Accused::rank || !finding.rank ||
        (finding.cause != Cause::barrier_wait && finding.cause != Cause::host_bound))
      continue;
    late.lost_ns = saturating_add(late.lost_ns, finding.lost_ns);
    std::int64_t& own_ns = late.own_compute_ns[*finding.rank];
    if (finding.reason == kComputesLonger) own_ns = saturating_add(own_ns, finding.own_ns);
  }
  return late;
}

std::map<std::int32_t, std::int64_t> computed_in_bubble(const FindingContext& context,
                                                        const PipelineReport& pipeline,
                                                        const OutsidePasses& outside) {
  const Job& job = context.diagnosis.job;
  const std::vector<IntervalSet>& regions = context.diagnosis.pipeline_regions;
  std::map<std::int32_t, std::int64_t> computed;
  for (const PipelineStage& stage : pipeline.stages_detail) {
    const auto found = outside.find(stage.rank);
    const auto rank = std::find_if(job.ranks.begin(), job.ranks.end(),
                                   [&](const RankTrace& one) { return one.rank == stage.rank; });
    const auto index = static_cast<std::size_t>(rank - job.ranks.begin());
    if (found == outside.end() || index >= regions.size()) continue;
    const IntervalSet within = intersect(found->second, regions[index]);
    std::int64_t ns = 0;
    for (const StepReport& step : context.report.steps)
      if (step.rank == stage.rank)
        ns = saturating_add(ns, within.measure_within(step.begin_ns + context.report.origin_aligned_ns,
                                                      step.end_ns + context.report.origin_aligned_ns));
    computed[stage.rank] = std::min(ns, stage.bubble_ns);
  }
  return computed;
}

std::int64_t computed_by_late_stages(const FindingContext& context, const LateStages& late,
                                     const OutsidePasses& outside) {
  std::int64_t sum = 0;
  for (const PipelineReport& pipeline : context.report.pipeline)
    for (const auto& [rank, ns] : computed_in_bubble(context, pipeline, outside))
      if (const auto own = late.own_compute_ns.find(rank); own != late.own_compute_ns.end())
        sum = saturating_add(sum, std::max<std::int64_t>(0, ns - own->second));
  return sum;
}

}  // namespace lockstep::analyzer
