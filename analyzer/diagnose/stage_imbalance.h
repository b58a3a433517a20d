// Stages of a pipeline that compute more than the others.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

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

// How long the rank's training threads ran in the steps of the report, and those of the upper median of the
// other ones of `ranks`; nothing where one of them is not known.
struct RunTimes {
  std::int64_t own_ns = 0;
  std::int64_t others_ns = 0;
  std::int64_t longer_ns() const { return own_ns - others_ns; }
};
std::optional<RunTimes> run_times(const Report& report, const std::set<std::int32_t>& ranks,
                                  std::int32_t rank);

struct StageImbalance {
  const PipelineStage* stage = nullptr;  // the one that computes most
  std::int64_t median_ns = 0;            // of the stages' compute; the lower one of an even number
  std::int64_t lost_ns = 0;              // Σ over the other stages of what they compute less
  std::optional<RunTimes> ran;           // where it might have waited for a core instead
};

// Of all time: what the other stages compute less is worth a finding.
inline constexpr std::int64_t kStageImbalancePermille = 20;

// Nothing where the stages are balanced, or where nobody knows: on a CPU, what the stage's rank waited for a
// core may be all that it seems to compute more. It is not where its threads ran longer than those of the
// others' ranks by half of that, and by half of what these ran: then no more is lost than they ran longer.
// Nor where ranks of the pipeline wait for a core for a hundredth of their time, and the stage computes less
// than half as long again (two fifths, where its threads ran half as long again) and has no more layers.
std::optional<StageImbalance> stage_imbalance_of(const Report& report, const PipelineReport& pipeline);

// Median time of a forward pass of one layer, over the layers that only this rank runs, or that it does not
// run.
std::optional<std::int64_t> layer_time(const Report& report, std::int32_t rank, bool on_rank);

// The rank runs as many layers of its pipeline as the other ranks, and that they take longer accounts for
// half at least of what its stages compute longer than the median rank's. False where layers are not known.
bool has_slower_layers(const Report& report, std::int32_t rank);

// Stages run different parts of a model: the last one computes the loss. By how much longer a step the passes
// of this rank's stages compute than those of the median of the other ranks of its pipeline, ns, as far as
// that may be what they have to compute: where other pipelines' ranks run the same stages, no more than these
// (their lower median) do. 0 where that is the rank's slowness (has_slower_layers), of a rank of no pipeline,
// and where passes are not known.
std::int64_t longer_as_its_stage(const Report& report, std::int32_t rank);

}  // namespace lockstep::analyzer
