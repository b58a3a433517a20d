// Stages of a pipeline that compute more than the others.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// From this multiple of the median stage's compute on, a stage computes too much.
inline constexpr double kUnbalancedStage = 1.1;

// Median of the compute of a pipeline's stages; the lower one of an even number. There is a stage.
std::int64_t median_compute(const PipelineReport& pipeline);
// A stage that computes this much is out of balance.
bool computes_too_much(std::int64_t compute_ns, std::int64_t median_ns);

// What the rank's threads waited for a core in the steps of the report; 0 where that was not recorded.
std::int64_t waited_for_a_core(const Report& report, std::int32_t rank);

struct StageImbalance {
  const PipelineStage* stage = nullptr;  // the one that computes most
  std::int64_t median_ns = 0;            // of the stages' compute; the lower one of an even number
  std::int64_t lost_ns = 0;              // Σ over the other stages of what they compute less
};

// Of all time: what the other stages compute less is worth a finding.
inline constexpr std::int64_t kStageImbalancePermille = 20;

// Nothing where the stages are balanced, or where nobody knows: on a CPU, what the stage's rank waited for a
// core may be all that it seems to compute more.
std::optional<StageImbalance> stage_imbalance_of(const Report& report, const PipelineReport& pipeline);

}  // namespace lockstep::analyzer
