#include "analyzer/diagnose/stage_imbalance.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"
#include "base/time_math.h"

namespace lockstep::analyzer {

std::int64_t median_compute(const PipelineReport& pipeline) {
  std::vector<std::int64_t> compute;
  for (const PipelineStage& stage : pipeline.stages_detail) compute.push_back(stage.compute_ns);
  return lower_median(std::move(compute));
}

bool computes_too_much(std::int64_t compute_ns, std::int64_t median_ns) {
  return static_cast<double>(compute_ns) >= kUnbalancedStage * static_cast<double>(median_ns);
}

std::int64_t waited_for_a_core(const Report& report, std::int32_t number) {
  for (const RankReport& rank : report.ranks)
    if (rank.rank == number) return rank.measures.run_queue_ns.value_or(0);
  return 0;
}

std::optional<StageImbalance> stage_imbalance_of(const Report& report, const PipelineReport& pipeline) {
  if (pipeline.stages_detail.size() < 2 || !pipeline.bubble_ratio || !pipeline.passes_known)
    return std::nullopt;
  StageImbalance result;
  for (const PipelineStage& stage : pipeline.stages_detail) {
    if (result.stage == nullptr || stage.compute_ns > result.stage->compute_ns) result.stage = &stage;
  }
  result.median_ns = median_compute(pipeline);
  if (!computes_too_much(result.stage->compute_ns, result.median_ns)) return std::nullopt;
  if (result.stage->compute_ns - result.median_ns <= waited_for_a_core(report, result.stage->rank))
    return std::nullopt;
  for (const PipelineStage& stage : pipeline.stages_detail)
    result.lost_ns = saturating_add(result.lost_ns, result.stage->compute_ns - stage.compute_ns);
  result.lost_ns = std::min(result.lost_ns, pipeline.bubble_ns);
  return result;
}

}  // namespace lockstep::analyzer
