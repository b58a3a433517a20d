// Bubbles of pipelines: measured against what the schedule allows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/late_stages.h"
#include "analyzer/diagnose/outside_passes.h"
#include "analyzer/diagnose/stage_imbalance.h"
#include "analyzer/metrics/pipeline_schedule.h"
#include "analyzer/report/measure_words.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kPipelineBubbleRemedies =
    std::to_array<Remedy>({{"Megatron",
                            "more microbatches: a smaller --micro-batch-size at the same "
                            "--global-batch-size; --num-layers-per-virtual-pipeline-stage interleaves"},
                           {"DeepSpeed", "gradient_accumulation_steps of the pipeline engine"},
                           {"PyTorch", "Schedule1F1B, ScheduleInterleaved1F1B; n_microbatches"}});
constexpr Explanation kPipelineBubbleExplained{
    .meaning = "Stages idle while their neighbours fill or drain the pipeline, or wait for a slower stage.",
    .found =
        "The bubble of all pipelines reaches 5 % of all time; that of the pipeline with the greatest is set "
        "against its schedule's ideal: (p−1)/(m+p−1) of GPipe and 1F1B, (p−1)/(v·m+p−1) interleaved. Where "
        "each pipeline's is at most 1.1 times its ideal, the schedule itself costs it, and the finding is a "
        "note. What a stage that is late or sleeps costs is said of it, and not again; where that is a third "
        "of what is above the ideal, the rest is a note.",
    .wrong =
        "The table of stages shows a bubble at its ideal: then only more microbatches or another schedule "
        "make it smaller.",
    .lost =
        "what is above the ideal (all of the bubble where none is known), less what findings say is lost to "
        "a stage that is late or sleeps, and what that stage computes beside its passes; all of the bubble where the "
        "schedule itself costs it",
    .remedies = kPipelineBubbleRemedies,
};
constexpr FindingKind kPipelineBubble{
    .code = "pipeline_bubble",
    .title = "stages of the pipeline wait for each other",
    .cause = Cause::pipeline_bubble,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .topic = Topic::pipeline_bubble,
    .explanation = &kPipelineBubbleExplained,
};
constexpr auto kPipelineBubbleKinds = std::to_array<const FindingKind*>({&kPipelineBubble});

constexpr std::int64_t kLossPermille = 50;
// Up to this multiple of the ideal, the schedule itself explains the bubble.
constexpr double kNearIdeal = 1.1;

// Beside stages that are late for this part of the bubble that is above the ideal, what is left of it is a
// note.
constexpr std::int64_t kPartOfLateStages = 3;

// The one that loses most; null where no ratio is known.
const PipelineReport* worst_pipeline(const Report& report) {
  const PipelineReport* worst = nullptr;
  for (const PipelineReport& pipeline : report.pipeline) {
    if (pipeline.bubble_ratio && (worst == nullptr || *pipeline.bubble_ratio > *worst->bubble_ratio))
      worst = &pipeline;
  }
  return worst;
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

std::string cannot_do_better(const PipelineReport& p) {
  const std::int64_t microbatches = p.microbatches.value_or(0);
  std::string text =
      fmt::format("{} with {} and {} {}", words_of(p.schedule), format_plural(p.stages, "stage"),
                  microbatches, microbatches == 1 ? "microbatch" : "microbatches");
  if (p.chunks > 1) text += fmt::format(" in {} chunks a stage", p.chunks);
  return fmt::format("{} cannot do better than {}", text, format_share(p.bubble_ratio_ideal));
}

// "with twice the microbatches 15.8 %, with two chunks a stage 15.8 %": what the schedule's own bubble would
// be.
std::string better_schedules(const PipelineReport& p) {
  const std::int64_t microbatches = p.microbatches.value_or(0);
  std::string text =
      fmt::format("more microbatches a step: with {} the ideal is {}", 2 * microbatches,
                  format_share(ideal_bubble_ratio(p.schedule, p.stages, 2 * microbatches, p.chunks)));
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

// The one that computes most, if that is too much.
const PipelineStage* longest_stage(const PipelineReport& p) {
  const std::int64_t median = median_compute(p);
  const PipelineStage& longest = *std::max_element(
      p.stages_detail.begin(), p.stages_detail.end(),
      [](const PipelineStage& a, const PipelineStage& b) { return a.compute_ns < b.compute_ns; });
  return computes_too_much(longest.compute_ns, median) ? &longest : nullptr;
}

// Stages that compute more than the others.
enum class Imbalance : std::uint8_t { none, little, has_a_finding };

// The rule of unbalanced_stages comes behind this one, and asks the same.
Imbalance imbalance_of(const FindingContext& context) {
  Imbalance found = Imbalance::none;
  for (const PipelineReport& pipeline : context.report.pipeline) {
    const std::optional<StageImbalance> imbalance = stage_imbalance_of(context.report, pipeline);
    if (!imbalance) continue;
    if (context.is_worth(imbalance->lost_ns, kStageImbalancePermille)) return Imbalance::has_a_finding;
    found = Imbalance::little;
  }
  return found;
}

std::string remedy_of(const PipelineReport& p, Imbalance imbalance, bool has_late_stage) {
  if (!p.bubble_ratio_ideal) {
    std::string text = "more microbatches a step, or an interleaved schedule; balance the layers over stages";
    if (!p.microbatches)
      text +=
          "; to see beside it what the schedule costs, number microbatches in the NVTX ranges of passes "
          "(`lockstep.compute`, docs/instrumentation.md)";
    return text;
  }
  if (has_late_stage)
    return "first what makes a stage late (see the finding about it); then " + better_schedules(p);
  if (imbalance == Imbalance::has_a_finding)
    return "balance the stages first (see the finding about them); then " + better_schedules(p);
  if (*p.bubble_ratio <= kNearIdeal * *p.bubble_ratio_ideal)
    return "the schedule itself costs it: " + better_schedules(p);
  if (const PipelineStage* stage = longest_stage(p); stage != nullptr && imbalance == Imbalance::none)
    return fmt::format(
        "whether the stages are balanced can't be told: stage {} (rank {}) computes longest, which may be "
        "its waiting for a core; record on cores that nothing else uses; then {}",
        stage->stage, stage->rank, better_schedules(p));
  return std::string(imbalance == Imbalance::little
                         ? "that a stage's passes compute longer costs little"
                         : "no stage's passes compute a tenth longer than the others'") +
         ": look at what stages do beside their passes, and "
         "at what stands before the gaps (`lockstep view`): messages, hosts, a pass that does not compute "
         "all the "
         "time; send and receive ahead of need; then " +
         better_schedules(p);
}

// Of all pipelines whose ratio is known.
struct Bubbles {
  std::int64_t pipelines = 0, all_ns = 0, regions_ns = 0;
  std::int64_t scheduled_ns = 0;   // what their schedules cost at their ideal; of an unknown one nothing
  bool at_their_schedules = true;  // each at its schedule's ideal, or near it
  std::int64_t avoidable_ns() const { return all_ns - scheduled_ns; }
};

Bubbles bubbles_of(const Report& report) {
  Bubbles sums;
  for (const PipelineReport& pipeline : report.pipeline) {
    if (!pipeline.bubble_ratio) continue;
    ++sums.pipelines;
    sums.all_ns = saturating_add(sums.all_ns, pipeline.bubble_ns);
    sums.regions_ns =
        saturating_add(sums.regions_ns, saturating_product(pipeline.region_ns, pipeline.stages));
    const double ideal = pipeline.bubble_ratio_ideal.value_or(0);
    const double all = static_cast<double>(pipeline.region_ns) * static_cast<double>(pipeline.stages);
    sums.scheduled_ns =
        saturating_add(sums.scheduled_ns,
                       std::min(pipeline.bubble_ns, static_cast<std::int64_t>(std::llround(ideal * all))));
    sums.at_their_schedules = sums.at_their_schedules && *pipeline.bubble_ratio <= kNearIdeal * ideal;
  }
  return sums;
}

// Replicas have groups of one name: "pp" (ranks 0, 1).
std::string name_with_ranks(const PipelineReport& pipeline) {
  std::vector<std::int32_t> ranks;
  for (const PipelineStage& stage : pipeline.stages_detail) ranks.push_back(stage.rank);
  return ranks.empty() ? fmt::format("\"{}\"", pipeline.group)
                       : fmt::format("\"{}\" ({})", pipeline.group, name_ranks(ranks));
}

// `worst`: of several pipelines the one that loses most; all of them are what is lost. `name`: what it is
// called.
std::string title_of(const PipelineReport& worst, const std::string& name, const Bubbles& bubbles,
                     bool is_schedule) {
  const std::string share = format_share(worst.bubble_ratio);
  const std::string ideal = worst.bubble_ratio_ideal && !is_schedule
                                ? ", where its schedule costs " + format_share(worst.bubble_ratio_ideal)
                                : std::string();
  if (bubbles.pipelines == 1)
    return is_schedule
               ? fmt::format("the schedule of {} lets its stages idle for {} of its region", name, share)
               : fmt::format("the stages of {} idle for {} of its region{}", name, share, ideal);
  return fmt::format("the {} of {} pipelines {}idle for {} of their regions; those of {} for {}{}",
                     is_schedule ? "schedules" : "stages", bubbles.pipelines,
                     is_schedule ? "let their stages " : "", format_share(bubbles.all_ns, bubbles.regions_ns),
                     name, share, ideal);
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

void say_what_is_computed(const FindingContext& context, const PipelineReport& pipeline,
                          const OutsidePasses& outside, Finding& finding) {
  constexpr std::int64_t kPart = 10;  // of the stage's bubble
  const std::map<std::int32_t, std::int64_t> computed = computed_in_bubble(context, pipeline, outside);
  for (const PipelineStage& stage : pipeline.stages_detail) {
    const auto found = computed.find(stage.rank);
    if (found == computed.end() || found->second * kPart < stage.bubble_ns || found->second <= 0) continue;
    finding.evidence.push_back(fmt::format(
        "rank {} computes for {} outside of its passes: that counts as bubble here, and as compute in "
        "the table of ranks",
        stage.rank, format_duration(found->second)));
  }
}

// Nobody can tell what the pipelines' bubble is: the cause alone speaks.
void find_waits_in_pipelines(const FindingContext& context, std::vector<Finding>& findings) {
  const std::int64_t lost = context.total(Cause::pipeline_bubble);
  if (!context.is_worth(lost, kLossPermille)) return;
  Finding finding = kPipelineBubble.make();
  finding.lost_ns = lost;
  finding.evidence.push_back(context.evidence_of(Cause::pipeline_bubble));
  finding.remedy = "more microbatches a step, or an interleaved schedule; balance the layers over stages";
  findings.push_back(std::move(finding));
}

void find_bubble(const FindingContext& context, std::vector<Finding>& findings) {
  const PipelineReport* const p = worst_pipeline(context.report);
  if (p == nullptr) return find_waits_in_pipelines(context, findings);
  const Bubbles bubbles = bubbles_of(context.report);
  if (!context.is_worth(bubbles.all_ns, kLossPermille)) return;
  const std::string of = context.report.pipeline.size() == 1 ? "the pipeline" : name_with_ranks(*p);
  Finding finding = kPipelineBubble.make();
  finding.is_note = bubbles.at_their_schedules;
  // A region may begin before a stage's own window does, and end after it, and those of steps in a row may
  // overlap: no more is lost than the ranks wait for each other.
  const std::int64_t waited =
      saturating_add(context.total(Cause::pipeline_bubble), context.total(Cause::barrier_wait));
  finding.lost_ns = finding.is_note ? std::min(bubbles.all_ns, context.all_windows_ns)
                                    : std::min(bubbles.avoidable_ns(), waited);
  finding.title = title_of(*p, of, bubbles, finding.is_note);
  if (p->bubble_ratio_ideal) {
    finding.evidence.push_back(cannot_do_better(*p));
  } else {
    finding.evidence.push_back("what it could be is not known: " + reason_text(p->reason));
  }
  if (!finding.is_note && bubbles.scheduled_ns > 0) {
    finding.evidence.push_back(
        fmt::format("the bubble is {} over all stages: {} that the schedule costs, and {} more",
                    format_duration(bubbles.all_ns), format_duration(bubbles.scheduled_ns),
                    format_duration(bubbles.avoidable_ns())));
  }
  const OutsidePasses outside = computed_outside_passes(context.diagnosis.job, context.report);
  const LateStages late = finding.is_note ? LateStages() : said_of_late_stages(findings);
  const std::int64_t of_late_stages =
      late.lost_ns > 0
          ? std::min(finding.lost_ns,
                     saturating_add(late.lost_ns, computed_by_late_stages(context, late, outside)))
          : 0;
  // What a late stage does beside its passes is bubble on that stage too, and not again a cause of its own.
  if (of_late_stages * kPartOfLateStages >= finding.lost_ns && of_late_stages > 0) finding.is_note = true;
  if (of_late_stages > 0) {
    finding.lost_ns -= of_late_stages;
    if (!context.is_worth(finding.lost_ns, kLossPermille)) return;
    std::vector<std::int32_t> ranks;
    for (const auto& [rank, own_ns] : late.own_compute_ns) ranks.push_back(rank);
    finding.evidence.push_back(
        fmt::format("{} of the bubble is lost to {}, as the finding about {} says: what is said to be lost "
                    "here is without it",
                    format_duration(of_late_stages), name_ranks(ranks), ranks.size() == 1 ? "it" : "them"));
  }
  const std::string of_which = bubbles.pipelines > 1 ? fmt::format("of {}: ", of) : std::string();
  std::int64_t warm_up = 0, steady = 0, cool_down = 0;
  for (const PipelineStage& stage : p->stages_detail) {
    warm_up += stage.warm_up_ns.value_or(0);
    steady += stage.steady_ns.value_or(0);
    cool_down += stage.cool_down_ns.value_or(0);
  }
  if (p->passes_known && p->bubble_ns > 0) {
    finding.evidence.push_back(
        fmt::format("{}{} of the bubble in warm-up, {} in the steady phase, {} in cool-down", of_which,
                    format_share(warm_up, p->bubble_ns), format_share(steady, p->bubble_ns),
                    format_share(cool_down, p->bubble_ns)));
  }
  // Not beside a late stage: what it does beside its passes is bubble on it, as the table counts it.
  if (of_late_stages == 0) finding.evidence.push_back(of_which + most_and_least(*p));
  say_what_is_computed(context, *p, outside, finding);
  // Of any of the pipelines: replicas wait for each other.
  const Imbalance imbalance = imbalance_of(context);
  const bool is_unbalanced = imbalance != Imbalance::none;
  // Of an unknown schedule's bubble, what a stage that is late or computes more does not cause may be what
  // the schedule costs.
  if (!p->bubble_ratio_ideal && (is_unbalanced || of_late_stages > 0)) finding.is_note = true;
  // And what other replicas idle for one of them is no cause of its own.
  if (is_unbalanced && context.report.pipeline.size() > 1) finding.is_note = true;
  finding.remedy = remedy_of(*p, imbalance, of_late_stages > 0);
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::pipeline_bubble{kPipelineBubbleKinds, find_bubble};

}  // namespace lockstep::analyzer
