// What a run's time goes into beside training: compilation, checkpoints, evaluation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/diagnose/async_saves.h"
#include "analyzer/diagnose/behind_steps.h"
#include "analyzer/diagnose/comparable_ranks.h"
#include "analyzer/diagnose/eval_mode.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hang_words.h"
#include "analyzer/diagnose/long_phase.h"
#include "analyzer/diagnose/phase_words.h"
#include "analyzer/metrics/windows.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// In thousandths of what the loss is a share of.
constexpr std::int64_t kMuchOfTraining = 20;

constexpr std::string_view kLongestRank =
    "the time of the rank that it took longest, times the ranks: the others wait for it; without "
    "communication, once";
constexpr std::string_view kLongestRankAndBehind =
    "in steps, the time of the rank that it took longest, times the ranks: the others wait for it; without "
    "communication, once; behind the last step, each rank's own";

constexpr auto kCheckpointRemedies = std::to_array<Remedy>(
    {{"PyTorch", "`torch.distributed.checkpoint.async_save`: training goes on once the state is copied"},
     {"PyTorch", "`torch.distributed.checkpoint.save`: each rank saves its part, instead of all on rank 0"},
     {"PyTorch",
      "where `async_save` is used already: `async_stager=DefaultStager(StagingOptions())` (pinned memory, on GPUs) "
      "and `async_checkpointer_type=AsyncCheckpointerType.PROCESS`; so seldom that a save ends before the next"},
     {"the program", "fewer checkpoints, or a faster place for them (a local disk, copied from there)"}});
constexpr Explanation kCheckpointExplained{
    .meaning = "Training stands still while a checkpoint is saved or loaded.",
    .found =
        "Steps that hold ranges of saving or loading (named by Lockstep's hook in PyTorch, a profiler or NVTX; "
        "docs/metrics.md, \"The run's account\") of a twentieth of the median step or more, whatever else lies "
        "in them; where more than half of the steps do, it is said \"in N of M steps\". What these took of the rank that they took longest, without "
        "what it waited for others in them, times the ranks, and what each rank saves behind its last step, is 2 % or more of the time between start-up "
        "and shutdown. What is loaded or saved before the first steady step does not count. None is found where it "
        "is not known which steps are steady.",
    .wrong = "The ranges are only named so, or the time in them would have been waited for anyway.",
    .lost = kLongestRankAndBehind,
    .remedies = kCheckpointRemedies,
};
constexpr FindingKind kCheckpoints{
    .code = "checkpoints_block",
    .title = "checkpoints stop training",
    .accuses = Accused::job,
    .points_at = PointsAt::place_of_its_own,
    .share = Share::of_training,
    .explanation = &kCheckpointExplained,
};

constexpr auto kEvaluationRemedies = std::to_array<Remedy>(
    {{"the program", "evaluate less often, on fewer batches, or in a job of its own from checkpoints"},
     {"Hugging Face Trainer", "`eval_steps`, `per_device_eval_batch_size`"},
     {"Lightning", "`val_check_interval`, `limit_val_batches`"},
     {"Megatron", "`--eval-interval`, `--eval-iters`"}});
constexpr Explanation kEvaluationExplained{
    .meaning = "The time in which the model is evaluated is not training.",
    .found =
        "As for checkpoints, of ranges of evaluation: of a framework's evaluation, or of the model in "
        "`eval()` mode, or under `no_grad` or `inference_mode`, without an optimizer step.",
    .wrong = "Nobody would do with less of it: then it is what the run is for.",
    .lost = kLongestRankAndBehind,
    .remedies = kEvaluationRemedies,
};
constexpr FindingKind kEvaluation{
    .code = "evaluation_long",
    .title = "evaluation takes the place of training",
    .accuses = Accused::job,
    .points_at = PointsAt::place_of_its_own,
    .share = Share::of_training,
    .explanation = &kEvaluationExplained,
};

constexpr auto kRecompilationRemedies = std::to_array<Remedy>(
    {{"PyTorch", "`TORCH_LOGS=recompiles` says which guard fails"},
     {"PyTorch", "`torch.compile(dynamic=True)` or `torch._dynamo.mark_dynamic` for sizes that change"},
     {"the program",
      "pad or bucket batches to a few shapes; keep Python numbers that change out of the graph"}});
constexpr Explanation kRecompilationExplained{
    .meaning =
        "torch.compile compiles again in the middle of training, because something that the compiled code "
        "was made for has changed: shapes, or Python values.",
    .found =
        "As for checkpoints, of ranges of compilation in steps behind the first steady one; what is compiled "
        "behind the last step does not count.",
    .wrong = "The compilation runs beside training, in threads of its own.",
    .lost = kLongestRank,
    .remedies = kRecompilationRemedies,
};
constexpr FindingKind kRecompilation{
    .code = "recompilation",
    .title = "torch.compile compiles anew",
    .accuses = Accused::job,
    .points_at = PointsAt::place_of_its_own,
    .share = Share::of_training,
    .explanation = &kRecompilationExplained,
};

constexpr auto kCompilationRemedies = std::to_array<Remedy>(
    {{"PyTorch",
      "`TORCHINDUCTOR_FX_GRAPH_CACHE=1` with `TORCHINDUCTOR_CACHE_DIR` on a disk that outlives the job"},
     {"PyTorch", "compile a repeated block alone (`block.compile()`) instead of the whole model"}});
constexpr Explanation kCompilationExplained{
    .meaning = "Much of the run is compilation before training is steady.",
    .found =
        "Ranges of compilation but for those of `recompilation`: a minute or more on average over the ranks, "
        "and 10 % or more of what was recorded. Stands behind all other findings.",
    .wrong = "The recording is short: in a run of a day the same compilation is nothing.",
    .lost = "that time, of each rank",
    .remedies = kCompilationRemedies,
};
constexpr FindingKind kCompilation{
    .code = "compilation_long",
    .title = "much of the run is compilation",
    .accuses = Accused::job,
    .share = Share::of_run,
    .explanation = &kCompilationExplained,
};
constexpr auto kOutsideTrainingKinds =
    std::to_array<const FindingKind*>({&kCheckpoints, &kEvaluation, &kRecompilation, &kCompilation});

// What the steps that were looked at hold of one phase.
struct Interruption {
  std::int64_t times = 0;  // stretches of neighbouring steps
  std::int64_t ns = 0;
  std::optional<std::int32_t> rank;  // if it was always that one alone
};
Interruption sum_of(const PhaseInSteps& in_steps) {
  Interruption all;
  for (const PhaseStretch& stretch : in_steps.stretches) {
    all.rank = all.times == 0 || all.rank == stretch.rank ? stretch.rank : std::nullopt;
    ++all.times;
    all.ns = saturating_add(all.ns, stretch.ns);
  }
  return all;
}

// "step 9", "steps 9 to 10"
std::string step_numbers(const PhaseStretch& stretch) {
  return stretch.first == stretch.last ? fmt::format("step {}", stretch.first)
                                       : fmt::format("steps {} to {}", stretch.first, stretch.last);
}

// "in 4 steps"; where most steps hold it "in 30 of 40 steps".
std::string where(const PhaseInSteps& within, const Behind& behind) {
  if (within.stretches.empty()) return "after the last step";
  std::int64_t steps = 0;
  for (const PhaseStretch& stretch : within.stretches) steps += stretch.steps;
  const std::string all = within.is_usual ? fmt::format("{} of {}", format_count(within.steps),
                                                        format_plural(within.of_steps, "step"))
                                          : format_plural(steps, "step");
  return fmt::format("in {}{}", all, behind.longest_ns > 0 ? ", and after the last step" : "");
}

// When a rank was in these steps, and in the one behind them: its end, where one saves, may count as that
// one's begin.
TimeSpan span_of(const Job& job, std::int32_t number, const PhaseStretch& steps) {
  TimeSpan span;
  for (const RankTrace& rank : job.ranks) {
    if (rank.rank != number) continue;
    for (const StepMark& step : rank.steps) {
      if (step.number == steps.first) span.begin = step.begin;
      if (step.number >= steps.first && step.number <= steps.last + 1) span.end = step.end;
    }
  }
  return span;
}

// What of this phase lies in the rank's windows of these steps, from the first of it to the last.
TimeSpan span_of_phase(const Job& job, std::int32_t number, Phase phase, const PhaseStretch& steps) {
  for (const RankTrace& rank : job.ranks) {
    if (rank.rank != number) continue;
    std::vector<Interval> times;
    for (const StepWindow& step : find_windows(rank).steps)
      if (step.number >= steps.first && step.number <= steps.last) times.push_back(step.window);
    const IntervalSet there =
        intersect(find_phases(rank, job.strings)[phase], IntervalSet::from(std::move(times)));
    if (!there.empty()) return {there.intervals().front().begin, there.intervals().back().end};
  }
  return span_of(job, number, steps);
}

FindingPlace place_of(const PhaseStretch& longest, Phase phase, const FindingContext& context) {
  FindingPlace place;
  place.rank = longest.longest_on;
  place.step = longest.first;
  const Job& job = context.diagnosis.job;
  const TimeSpan span = span_of_phase(job, place.rank, phase, longest);
  place.begin_ns = span.begin - context.report.origin_aligned_ns;
  place.end_ns = span.end - context.report.origin_aligned_ns;
  return place;
}

// Whether what the rank did in all of that time stands in its trace.
bool is_recorded(const RankTrace& rank, const TimeSpan& span) {
  const auto overlaps = [&span](const TimeSpan& other) {
    return other.begin < span.end && other.end > span.begin;
  };
  if (rank.steps.empty()) return false;  // what it does is looked at by step
  if (rank.was_lost_within(span.begin, span.end)) return false;
  if (std::any_of(rank.unrecorded.begin(), rank.unrecorded.end(), overlaps)) return false;
  return rank.ending.closed || rank.ending.recorded_until == kUnknownTime ||
         rank.ending.recorded_until >= span.end - kLastFlush;
}

// The ranks of which nobody knows whether they do at these times what `doer` does.
std::vector<std::int32_t> unknown_then(const FindingContext& context, std::int32_t doer,
                                       const PhaseInSteps& within, const Behind& behind) {
  const Job& job = context.diagnosis.job;
  std::vector<TimeSpan> spans;
  for (const PhaseStretch& stretch : within.stretches) spans.push_back(span_of(job, doer, stretch));
  if (behind.longest_ns > 0)
    spans.push_back({behind.place.begin_ns + context.report.origin_aligned_ns,
                     behind.place.end_ns + context.report.origin_aligned_ns});
  std::vector<std::int32_t> unknown = job.ranks_missing;
  for (const RankTrace& rank : job.ranks) {
    if (rank.rank != doer && !std::all_of(spans.begin(), spans.end(),
                                          [&rank](const TimeSpan& span) { return is_recorded(rank, span); }))
      unknown.push_back(rank.rank);
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

// Of whose training anything is known: what a cut file lacks is no part of training_ns() either.
std::int64_t ranks_that_train(const AccountReport& account) {
  return std::count_if(account.ranks.begin(), account.ranks.end(), [](const RankAccount& rank) {
    return rank.spent.recorded() > rank.spent[Spending::start_up] + rank.spent[Spending::shutdown];
  });
}

struct Reason {
  Spending spending;
  Phase phase;
  bool counts_behind;  // the account counts it behind the last step too
  const FindingKind* kind;
  std::string_view of_one;  // what the rank does that does it alone
  std::string_view remedy;
};
constexpr auto kReasons = std::to_array<Reason>(
    {{Spending::checkpoint, Phase::checkpoint, true, &kCheckpoints, "saves checkpoints",
      "save in the background (`torch.distributed.checkpoint.async_save`), each rank its part; or less "
      "often"},
     {Spending::evaluation, Phase::evaluation, true, &kEvaluation, "evaluates",
      "evaluate less often, on fewer batches, or in a job of its own"},
     {Spending::compilation, Phase::compilation, false, &kRecompilation, "compiles anew",
      "TORCH_LOGS=recompiles says why; mark sizes that change as dynamic, or pad to few shapes"}});

bool is_worth(std::int64_t ns, std::int64_t whole, std::int64_t permille) {
  return static_cast<double>(ns) * 1000 >= static_cast<double>(whole) * static_cast<double>(permille);
}

// Passes without gradients are told where they took longer than a step: of ranks that do the same for about
// as long, one may seem to do it alone. So may one that waits in them for a rank that still does something
// else: its own time counts.
bool would_be_told(const PhaseInSteps& in_steps, const Behind& behind, std::int64_t step_ns) {
  const auto is_long = [step_ns](std::int64_t ns) { return ns / 2 >= step_ns; };
  return std::ranges::all_of(in_steps.stretches, is_long, &PhaseStretch::own_ns) &&
         (behind.longest_ns == 0 || is_long(behind.longest_own_ns));
}

// What all ranks do so may be the job's own work. Which it was, eval() or passes without gradients, the range
// does not tell.
void say_what_the_mode_tells(Finding& finding, const std::string& how_much) {
  finding.title = fmt::format("the model runs without being trained: {}", how_much);
  finding.accuses = Accused::nobody;
  finding.evidence.emplace_back(
      "whether that is evaluation, or rollouts and generation, the trace does not tell; what is shorter than a "
      "step it may not tell at all");
  finding.remedy =
      "evaluation: less often, on fewer batches, or in a job of its own; rollouts and generation are part of the "
      "job's work";
}

void find_interruptions(const FindingContext& context, const Reason& reason, std::vector<Finding>& findings) {
  const Report& report = context.report;
  const Interruptions& interruptions = context.diagnosis.interruptions;
  const PhaseInSteps& in_steps = interruptions[reason.phase];
  const Interruption within = sum_of(in_steps);
  // Looking for it costs a pass over all ranges.
  const Behind behind =
      reason.counts_behind && interruptions.whole_run && report.account.spent[reason.spending] > 0
          ? behind_the_last_step(context, reason.phase)
          : Behind{};
  const std::size_t ranks = report.account.ranks.size();
  const std::int64_t training = report.account.training_ns();
  std::int64_t lost = report.collectives.empty()
                          ? within.ns
                          : saturating_product(within.ns, ranks_that_train(report.account));
  lost = saturating_add(lost, behind.all_ns);  // nobody has to wait for that
  if (lost <= 0 || !is_worth(lost, training, kMuchOfTraining)) return;
  Finding finding = reason.kind->make();
  const std::int64_t told_ns = saturating_add(within.ns, behind.longest_ns);
  const std::string how_much = fmt::format("{} {}", format_duration(told_ns), where(in_steps, behind));
  const bool is_of_one = (within.times == 0 || within.rank) && (behind.longest_ns == 0 || behind.rank) &&
                         (within.times == 0 || behind.longest_ns == 0 || within.rank == behind.rank);
  const std::optional<std::int32_t> one = within.times > 0 ? within.rank : behind.rank;
  const bool by_mode = reason.kind == &kEvaluation && is_known_by_mode_alone(context.diagnosis.job);
  if (is_of_one && ranks > 1 && !comparable_ranks(report, *one).empty() &&
      (!by_mode || would_be_told(in_steps, behind, context.steps.mean_step_ns))) {
    finding.rank = one;
    finding.title = fmt::format("rank {} {}: {}", *finding.rank, reason.of_one, how_much);
    const std::vector<std::int32_t> unknown = unknown_then(context, *finding.rank, in_steps, behind);
    finding.evidence.push_back(
        unknown.empty()
            ? "no other rank does; who meets it in communication waits meanwhile"
            : fmt::format("whether {} {} so too is not known: {} no steps, or no record of all of that time",
                          hang::named(unknown), unknown.size() == 1 ? "does" : "do",
                          unknown.size() == 1 ? "it left" : "they left"));
  } else {
    finding.title = fmt::format("{}: {}", reason.kind->title, how_much);
  }
  if (!finding.rank && (!by_mode || would_be_told(in_steps, behind, context.steps.mean_step_ns)))
    say_who_takes_longest(context, in_steps, finding);
  name_other_total(context, reason.spending, told_ns, finding);
  if (within.times > 0)
    finding.evidence.push_back(
        fmt::format("{}; the longest is in {}, with {} of it",
                    report.steady && !in_steps.is_usual ? "these steps are no part of the other figures"
                                                        : "the other figures are over such steps too",
                    step_numbers(in_steps.longest), format_duration(in_steps.longest.ns)));
  if (behind.longest_ns > 0)
    finding.evidence.push_back(
        fmt::format("{} of it comes after the last step: {}", format_duration(behind.longest_ns),
                    within.times > 0 ? "at the end of the run, or the last of those that come between steps"
                                     : "whether more steps would bring more of it can't be told"));
  finding.remedy = reason.remedy;
  if (reason.kind == &kCheckpoints) say_what_blocks_of_async_saves(context, finding);
  if (by_mode && !finding.rank) say_what_the_mode_tells(finding, how_much);
  finding.lost_ns = std::min(lost, training);
  finding.place = within.times > 0 && in_steps.longest.ns >= behind.longest_ns
                      ? place_of(in_steps.longest, reason.phase, context)
                      : behind.place;
  findings.push_back(std::move(finding));
}

void find_outside_training(const FindingContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (report.account.ranks.empty() || !report.account.goodput) return;
  for (const Reason& reason : kReasons) find_interruptions(context, reason, findings);
  const Account& spent = report.account.spent;
  const std::int64_t later =
      saturating_product(sum_of(context.diagnosis.interruptions[Phase::compilation]).ns,
                         static_cast<std::int64_t>(report.account.ranks.size()));
  add_long_phase(context, kCompilation,
                 spent[Spending::compilation] - std::min(later, spent[Spending::compilation]),
                 "keep compiled code: TORCHINDUCTOR_CACHE_DIR on a disk that outlives the job", findings);
}

}  // namespace

const FindingRule rules::outside_training{kOutsideTrainingKinds, find_outside_training};

}  // namespace lockstep::analyzer
