// Bubbles of pipelines: measured against what the schedule allows, and stages that compute more than others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_rules.h"
#include "analyzer/intervals/median.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/metrics/pipeline_schedule.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kLossPermille = 50;
constexpr std::int64_t kImbalancePermille = 20;
// From this excess over the median stage on, a stage computes too much.
constexpr double kUnbalanced = 1.1;
// Up to this multiple of the ideal, the schedule itself explains the bubble.
constexpr double kNearIdeal = 1.1;

// The one that loses most; null where no ratio is known.
const PipelineReport* worst_pipeline(const Report& report) {
  const PipelineReport* worst = nullptr;
  for (const PipelineReport& pipeline : report.pipeline) {
    if (pipeline.bubble_ratio && (worst == nullptr || *pipeline.bubble_ratio > *worst->bubble_ratio))
      worst = &pipeline;
  }
  return worst;
}

Schedule schedule_of(const PipelineReport& pipeline) {
  for (const Schedule schedule :
       {Schedule::gpipe, Schedule::one_forward_one_backward, Schedule::interleaved}) {
    if (pipeline.schedule == to_string(schedule)) return schedule;
  }
  return Schedule::unknown;
}

const char* words_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::gpipe:
      return "GPipe";
    case Schedule::one_forward_one_backward:
      return "1F1B";
    case Schedule::interleaved:
      return "interleaved 1F1B";
    case Schedule::unknown:
      break;
  }
  return "an unknown schedule";
}

struct Imbalance {
  const PipelineStage* stage = nullptr;  // the one that computes most
  std::int64_t median_ns = 0;            // of the stages' compute; the lower one of an even number
  std::int64_t lost_ns = 0;              // Σ over the other stages of what they compute less
};

// Nothing where the stages are balanced.
std::optional<Imbalance> imbalance_of(const PipelineReport& pipeline) {
  if (pipeline.stages_detail.size() < 2 || !pipeline.bubble_ratio || !pipeline.passes_known)
    return std::nullopt;
  Imbalance result;
  for (const PipelineStage& stage : pipeline.stages_detail) {
    if (result.stage == nullptr || stage.compute_ns > result.stage->compute_ns) result.stage = &stage;
  }
  result.median_ns = median_compute(pipeline);
  if (!computes_too_much(result.stage->compute_ns, result.median_ns)) return std::nullopt;
  for (const PipelineStage& stage : pipeline.stages_detail)
    result.lost_ns = saturating_add(result.lost_ns, result.stage->compute_ns - stage.compute_ns);
  result.lost_ns = std::min(result.lost_ns, pipeline.bubble_ns);
  return result;
}

std::string more_than_median(const Imbalance& imbalance) {
  return format_share(imbalance.stage->compute_ns - imbalance.median_ns, imbalance.median_ns);
}

std::string cannot_do_better(const PipelineReport& p) {
  const std::int64_t microbatches = p.microbatches.value_or(0);
  std::string text =
      fmt::format("{} with {} and {} {}", words_of(schedule_of(p)), format_plural(p.stages, "stage"),
                  microbatches, microbatches == 1 ? "microbatch" : "microbatches");
  if (p.chunks > 1) text += fmt::format(" in {} chunks a stage", p.chunks);
  return fmt::format("{} cannot do better than {}", text, format_share(p.bubble_ratio_ideal));
}

// "with twice the microbatches 15.8 %, with two chunks a stage 15.8 %": what the schedule's own bubble would
// be.
std::string better_schedules(const PipelineReport& p) {
  const Schedule schedule = schedule_of(p);
  const std::int64_t microbatches = p.microbatches.value_or(0);
  std::string text =
      fmt::format("more microbatches a step: with {} the ideal is {}", 2 * microbatches,
                  format_share(ideal_bubble_ratio(schedule, p.stages, 2 * microbatches, p.chunks)));
  std::size_t layers = 0;
  for (const PipelineStage& stage : p.stages_detail)
    layers = stage.stage == 0 ? stage.layers.size() : std::min(layers, stage.layers.size());
  if (layers >= 2 * static_cast<std::size_t>(p.chunks)) {
    text += fmt::format(
        "; or an interleaved schedule: with {} chunks a stage it is {}", 2 * p.chunks,
        format_share(ideal_bubble_ratio(Schedule::interleaved, p.stages, microbatches, 2 * p.chunks)));
  }
  return text;
}

std::string remedy_of(const PipelineReport& p, bool unbalanced) {
  if (!p.bubble_ratio_ideal)
    return "more microbatches a step, or an interleaved schedule; balance the layers over stages";
  if (unbalanced) return "balance the stages first (see the finding about them); then " + better_schedules(p);
  if (*p.bubble_ratio <= kNearIdeal * *p.bubble_ratio_ideal)
    return "the schedule itself costs it: " + better_schedules(p);
  return "the stages are balanced, so that it is the messages or the hosts that are late: look at what "
         "stands before "
         "the gaps of the steady phase (`lockstep view`), send and receive ahead of need; then " +
         better_schedules(p);
}

// Of all pipelines whose ratio is known.
struct Bubbles {
  std::int64_t all_ns = 0;
  std::int64_t scheduled_ns = 0;   // what their schedules cost at their ideal; of an unknown one nothing
  bool at_their_schedules = true;  // each at its schedule's ideal, or near it
  std::int64_t avoidable_ns() const { return all_ns - scheduled_ns; }
};

Bubbles bubbles_of(const Report& report) {
  Bubbles sums;
  for (const PipelineReport& pipeline : report.pipeline) {
    if (!pipeline.bubble_ratio) continue;
    sums.all_ns = saturating_add(sums.all_ns, pipeline.bubble_ns);
    const double ideal = pipeline.bubble_ratio_ideal.value_or(0);
    const double all = static_cast<double>(pipeline.region_ns) * static_cast<double>(pipeline.stages);
    sums.scheduled_ns =
        saturating_add(sums.scheduled_ns,
                       std::min(pipeline.bubble_ns, static_cast<std::int64_t>(std::llround(ideal * all))));
    sums.at_their_schedules = sums.at_their_schedules && *pipeline.bubble_ratio <= kNearIdeal * ideal;
  }
  return sums;
}

// "most on stage 0 (rank 0): 892 ms; least on stage 3 (rank 3): 817 ms"
std::string most_and_least(const PipelineReport& pipeline) {
  const auto [least, most] = std::minmax_element(
      pipeline.stages_detail.begin(), pipeline.stages_detail.end(),
      [](const PipelineStage& a, const PipelineStage& b) { return a.bubble_ns < b.bubble_ns; });
  if (least->bubble_ns == most->bubble_ns)
    return fmt::format("{} on each stage", format_duration(most->bubble_ns));
  return fmt::format("most on stage {} (rank {}): {}; least on stage {} (rank {}): {}", most->stage,
                     most->rank, format_duration(most->bubble_ns), least->stage, least->rank,
                     format_duration(least->bubble_ns));
}

// Nobody can tell what the pipelines' bubble is: the cause alone speaks.
void find_waits_in_pipelines(const FindingContext& context, std::vector<Finding>& findings) {
  const std::int64_t lost = context.total(Cause::pipeline_bubble);
  if (!context.is_worth(lost, kLossPermille)) return;
  Finding finding;
  finding.code = "pipeline_bubble";
  finding.lost_ns = lost;
  finding.title = "stages of the pipeline wait for each other";
  finding.evidence.push_back(context.evidence_of(Cause::pipeline_bubble));
  finding.remedy = "more microbatches a step, or an interleaved schedule; balance the layers over stages";
  findings.push_back(std::move(finding));
}

void find_bubble(const FindingContext& context, std::vector<Finding>& findings) {
  const PipelineReport* const p = worst_pipeline(context.report);
  if (p == nullptr) return find_waits_in_pipelines(context, findings);
  const Bubbles bubbles = bubbles_of(context.report);
  if (!context.is_worth(bubbles.all_ns, kLossPermille)) return;
  const std::string of =
      context.report.pipeline.size() == 1 ? "the pipeline" : fmt::format("\"{}\"", p->group);
  Finding finding;
  finding.code = "pipeline_bubble";
  finding.is_note = bubbles.at_their_schedules;
  finding.lost_ns = finding.is_note ? bubbles.all_ns : bubbles.avoidable_ns();
  finding.title =
      fmt::format("the stages of {} idle for {} of its region", of, format_share(p->bubble_ratio));
  if (finding.is_note) {
    finding.title = fmt::format("the schedule of {} lets its stages idle for {} of its region", of,
                                format_share(p->bubble_ratio));
  } else if (p->bubble_ratio_ideal) {
    finding.title += fmt::format(", where its schedule costs {}", format_share(p->bubble_ratio_ideal));
  }
  if (p->bubble_ratio_ideal) {
    finding.evidence.push_back(cannot_do_better(*p));
  } else {
    finding.evidence.push_back("what it could be is not known: " + p->reason);
  }
  if (!finding.is_note && bubbles.scheduled_ns > 0) {
    finding.evidence.push_back(
        fmt::format("the bubble is {} over all stages: {} that the schedule costs, and {} more",
                    format_duration(bubbles.all_ns), format_duration(bubbles.scheduled_ns),
                    format_duration(bubbles.avoidable_ns())));
  }
  std::int64_t warm_up = 0, steady = 0, cool_down = 0;
  for (const PipelineStage& stage : p->stages_detail) {
    warm_up += stage.warm_up_ns.value_or(0);
    steady += stage.steady_ns.value_or(0);
    cool_down += stage.cool_down_ns.value_or(0);
  }
  if (p->passes_known && p->bubble_ns > 0) {
    finding.evidence.push_back(
        fmt::format("{} of the bubble in warm-up, {} in the steady phase, {} in cool-down",
                    format_share(warm_up, p->bubble_ns), format_share(steady, p->bubble_ns),
                    format_share(cool_down, p->bubble_ns)));
  }
  finding.evidence.push_back(most_and_least(*p));
  finding.remedy = remedy_of(*p, imbalance_of(*p).has_value());
  findings.push_back(std::move(finding));
}

// Median time of a forward pass of one layer, over the layers that only this rank runs, or that it does not
// run.
std::optional<std::int64_t> layer_time(const Report& report, std::int32_t rank, bool on_rank) {
  std::vector<std::int64_t> times;
  for (const LayerReport& layer : report.layers) {
    if (!layer.layer || !layer.forward) continue;
    const bool there = std::find(layer.ranks.begin(), layer.ranks.end(), rank) != layer.ranks.end();
    if (there == on_rank) times.push_back(layer.forward->microbatch_ns);
  }
  if (times.empty()) return std::nullopt;
  return lower_median(std::move(times));
}

// A layer that takes longer on this rank than on the median one of several that run it; null where none does.
const LayerReport* slower_than_elsewhere(const Report& report, std::int32_t rank) {
  for (const LayerReport& layer : report.layers) {
    if (layer.ranks.size() > 1 && layer.forward && layer.forward->slowest_rank == rank &&
        static_cast<double>(layer.forward->max_ns) >
            kUnbalanced * static_cast<double>(layer.forward->median_ns))
      return &layer;
  }
  return nullptr;
}

void find_unbalanced(const FindingContext& context, std::vector<Finding>& findings) {
  const PipelineReport* pipeline = nullptr;
  Imbalance worst;
  for (const PipelineReport& candidate : context.report.pipeline) {
    const std::optional<Imbalance> found = imbalance_of(candidate);
    if (!found || found->lost_ns <= worst.lost_ns) continue;
    worst = *found;
    pipeline = &candidate;
  }
  if (pipeline == nullptr || !context.is_worth(worst.lost_ns, kImbalancePermille)) return;
  const PipelineStage& stage = *worst.stage;
  Finding finding;
  finding.code = "unbalanced_stages";
  finding.rank = stage.rank;
  finding.lost_ns = worst.lost_ns;
  finding.title = fmt::format(
      "stage {} (rank {}) of {} computes {} more than the median stage", stage.stage, stage.rank,
      context.report.pipeline.size() == 1 ? "the pipeline" : fmt::format("\"{}\"", pipeline->group),
      more_than_median(worst));
  finding.evidence.push_back(
      fmt::format("it computes for {}, the median stage for {}: the others wait for it",
                  format_duration(stage.compute_ns), format_duration(worst.median_ns)));
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
  bool slower = own && others && static_cast<double>(*own) > kUnbalanced * static_cast<double>(*others);
  if (const LayerReport* layer = slower_than_elsewhere(context.report, stage.rank)) {
    slower = true;
    finding.evidence.push_back(
        fmt::format("the forward passes of {} take {} on it, {} on the median rank that runs it", layer->name,
                    format_duration(layer->forward->max_ns), format_duration(layer->forward->median_ns)));
  } else if (own && others) {
    finding.evidence.push_back(
        fmt::format("the forward pass of one of its layers takes {}, of the others' {}",
                    format_duration(*own), format_duration(*others)));
  }
  finding.remedy =
      slower ? "its layers themselves are slower: compare the ranks' devices and what else runs there; "
               "moving layers only hides it"
      : more_layers ? "move layers from it to the stages with fewer"
                    : "what it computes beside its layers (embedding, head, loss) counts too: give it "
                      "fewer layers than the others";
  findings.push_back(std::move(finding));
}

}  // namespace

std::int64_t median_compute(const PipelineReport& pipeline) {
  std::vector<std::int64_t> compute;
  for (const PipelineStage& stage : pipeline.stages_detail) compute.push_back(stage.compute_ns);
  return lower_median(std::move(compute));
}

bool computes_too_much(std::int64_t compute_ns, std::int64_t median_ns) {
  return static_cast<double>(compute_ns) >= kUnbalanced * static_cast<double>(median_ns);
}

void find_pipeline_losses(const FindingContext& context, std::vector<Finding>& findings) {
  find_bubble(context, findings);
  find_unbalanced(context, findings);
}

}  // namespace lockstep::analyzer
