// One stage of a pipeline computes more than the others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/slow_place_words.h"
#include "analyzer/diagnose/stage_imbalance.h"
#include "analyzer/intervals/median.h"
#include "analyzer/report/measure_words.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kUnbalancedStagesRemedies =
    std::to_array<Remedy>({{"Megatron",
                            "--decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers; "
                            "--account-for-embedding-in-pipeline-split"},
                           {"DeepSpeed", "PipelineModule(partition_method=\"parameters\" or \"type:regex\")"},
                           {"PyTorch", "other split points: the embedding and the head count as layers"}});
constexpr Explanation kUnbalancedStagesExplained{
    .meaning = "The slowest stage sets the pace of all.",
    .found =
        "A stage computes at least 10 % more than the median stage, and what the others compute less reaches "
        "2 %. On CPUs, what it computes more than the median stage must be more than what its rank waited "
        "for a core (`run_queue_ns`), or its training threads ran (`on_core_ns`) longer than the others' by half "
        "and by half of that; and beside other programs (ranks wait for a core for 1 % of their time) it must be "
        "half as much again (two fifths where its threads ran half as long again), unless it has more layers, for processes differ there with the same work. Below 10 % nobody is accused, for a stage may have more to compute "
        "(`not_accused_because`: `stage_computes_more`).",
    .wrong =
        "Its computations are as long as the others': it recomputes activations, and so runs more of them.",
    .lost = "what the others compute less, at most the pipeline's bubble",
    .remedies = kUnbalancedStagesRemedies,
};
constexpr FindingKind kUnbalancedStages{
    .code = "unbalanced_stages",
    .title = "one pipeline stage computes more than the others",
    .cause = Cause::pipeline_bubble,
    .accuses = Accused::rank,
    .points_at = PointsAt::worst_step,
    .picture = "stages",
    .topic = Topic::heavy_stage,
    .explanation = &kUnbalancedStagesExplained,
};
constexpr auto kUnbalancedStagesKinds = std::to_array<const FindingKind*>({&kUnbalancedStages});

// "28.4 % more than the median stage", "20 times as long as the median stage"
std::string more_than_median(const StageImbalance& imbalance) {
  constexpr std::int64_t kTimes = 4;
  const std::int64_t compute = imbalance.stage->compute_ns, median = imbalance.median_ns;
  if (median > 0 && compute / kTimes >= median)
    return fmt::format("{} times as long as the median stage",
                       std::llround(static_cast<double>(compute) / static_cast<double>(median)));
  return format_share(compute - median, median) + " more than the median stage";
}

// A layer that takes longer on this rank than on the median one of several that run it; null where none does.
const LayerReport* slower_than_elsewhere(const Report& report, std::int32_t rank) {
  for (const LayerReport& layer : report.layers) {
    if (layer.ranks.size() > 1 && layer.forward && layer.forward->slowest_rank == rank &&
        static_cast<double>(layer.forward->max_ns) >
            kUnbalancedStage * static_cast<double>(layer.forward->median_ns))
      return &layer;
  }
  return nullptr;
}

// The line of Python where the stage's rank is longer than the others by most of what it computes more.
std::string line_of_excess(const FindingContext& context, const StageImbalance& worst, Finding& finding) {
  const auto steps = static_cast<std::int64_t>(context.steps.steps.size());
  if (steps == 0) return {};
  const PlaceComparison found =
      compare_places(context.diagnosis.job, {worst.stage->rank, context.steps.ranks, context.steps.steps,
                                             (worst.stage->compute_ns - worst.median_ns) / steps});
  if (!found.slow) return {};
  finding.evidence.push_back(describe_looks(*found.slow, "its"));
  return fmt::format("`{}`", found.slow->place);
}

void find_unbalanced(const FindingContext& context, std::vector<Finding>& findings) {
  const PipelineReport* pipeline = nullptr;
  StageImbalance worst;
  for (const PipelineReport& candidate : context.report.pipeline) {
    const std::optional<StageImbalance> found = stage_imbalance_of(context.report, candidate);
    if (!found || found->lost_ns <= worst.lost_ns) continue;
    worst = *found;
    pipeline = &candidate;
  }
  if (pipeline == nullptr || !context.is_worth(worst.lost_ns, kStageImbalancePermille)) return;
  const PipelineStage& stage = *worst.stage;
  Finding finding = kUnbalancedStages.make();
  finding.rank = stage.rank;
  finding.lost_ns = worst.lost_ns;
  finding.title = fmt::format(
      "stage {} (rank {}) of {} computes {}", stage.stage, stage.rank,
      context.report.pipeline.size() == 1 ? "the pipeline" : fmt::format("\"{}\"", pipeline->group),
      more_than_median(worst));
  finding.evidence.push_back(
      fmt::format("it computes for {}, the median stage for {}: the others wait for it",
                  format_duration(stage.compute_ns), format_duration(worst.median_ns)));
  if (worst.ran)
    finding.evidence.push_back(fmt::format(
        "its training threads ran for {}, those of the others for {} in the median: it has more to do, "
        "whoever else wants the cores",
        format_duration(worst.ran->own_ns), format_duration(worst.ran->others_ns)));
  std::vector<std::size_t> counts;
  for (const PipelineStage& other : pipeline->stages_detail)
    if (other.stage != stage.stage) counts.push_back(other.layers.size());
  const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
  const std::optional<std::int64_t> own = layer_time(context.report, stage.rank, true);
  const std::optional<std::int64_t> others = layer_time(context.report, stage.rank, false);
  const bool more_layers = stage.layers.size() > *fewest;
  if (!stage.layers.empty())
    finding.evidence.push_back(fmt::format(
        "it has {}, the others {}", format_plural(static_cast<std::int64_t>(stage.layers.size()), "layer"),
        *fewest == *most ? fmt::format("{}", *most) : fmt::format("{} to {}", *fewest, *most)));
  bool slower = own && others && static_cast<double>(*own) > kUnbalancedStage * static_cast<double>(*others);
  if (const LayerReport* layer = slower_than_elsewhere(context.report, stage.rank)) {
    slower = true;
    finding.evidence.push_back(fmt::format(
        "the forward passes of {} take {} on it, {} on the median rank that runs it", layer_name(*layer),
        format_duration(layer->forward->max_ns), format_duration(layer->forward->median_ns)));
  } else if (own && others) {
    finding.evidence.push_back(
        fmt::format("the forward pass of one of its layers takes {}, of the others' {}",
                    format_duration(*own), format_duration(*others)));
  }
  // A stage that reads a file or loops in Python computes no more of its layers.
  const std::string line = line_of_excess(context, worst, finding);
  finding.remedy =
      !line.empty() ? fmt::format("look at what it does in {} first; else give it fewer layers", line)
      : slower ? "its layers themselves are slower: compare the ranks' devices and what else runs there; "
                 "moving layers only hides it"
      : stage.layers.empty() ? "give it fewer layers; where it has as many as the others, its rank is "
                               "slower: compare the ranks' devices and what else runs there"
      : more_layers          ? "move layers from it to the stages with fewer"
                    : "what it computes beside its layers (embedding, head, loss) counts too: give it "
                      "fewer layers than the others";
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::unbalanced_stages{kUnbalancedStagesKinds, find_unbalanced};

}  // namespace lockstep::analyzer
