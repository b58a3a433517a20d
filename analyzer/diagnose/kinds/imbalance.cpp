// Waiting of which nobody can tell whether one rank is to blame: too little was recorded.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/accusation.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hang_words.h"
#include "analyzer/diagnose/slow_place_words.h"
#include "analyzer/diagnose/unjudged_ranks.h"
#include "analyzer/lateness/core_waits.h"
#include "analyzer/model/warns_of.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kImbalanceRemedies = std::to_array<Remedy>(
    {{"the recording", "20 steps or more, of all ranks, with step marks: then it can be told"},
     {"the program",
      "lengths of batches that differ from step to step; garbage collection (gc.freeze(), or collecting on "
      "all ranks in the same step)"},
     {"PyTorch", "`no_sync()` over more accumulation steps: fewer meetings"}});
constexpr Explanation kImbalanceExplained{
    .meaning =
        "Much time is spent waiting in collectives. Who came last is known, but not whether it is the same "
        "rank again and again: a step or two show nothing but chance.",
    .found =
        "Exposed barrier waits, but for what jitter leaves out, reach 5 % of all time, no late rank and no "
        "uneven batches explain half of them, and there are too few steps with every rank known (five; ten "
        "for two ranks), no step marks, ranks that have no steps, or only some of those of the others (where most "
        "of the waiting was for them, or nobody can be judged), or ranks without a record; or the ranks' steps do not go together (the warning `steps_apart`), or one comes last "
        "again and again, on CPUs, for what may be the cores' doing (`cores_unknown`).",
    .wrong =
        "The waits are in a few operations only (start-up, checkpoints): select other steps with --steps.",
    .lost = "all of that waiting",
    .remedies = kImbalanceRemedies,
};
constexpr FindingKind kImbalance{
    .code = "imbalance",
    .title = "ranks wait for each other, and too little was recorded to say who is late",
    .cause = Cause::barrier_wait,
    .points_at = PointsAt::worst_operation,
    .picture = "cause",
    .explanation = &kImbalanceExplained,
};
constexpr auto kImbalanceKinds = std::to_array<const FindingKind*>({&kImbalance});

struct Words {
  std::string title;
  std::string remedy;
};

std::string steps_words(std::int64_t steps) {
  return steps == 1 ? "one step shows" : fmt::format("{} steps show", steps);
}

// More may be recorded than was looked at: of the steps chosen with --steps, or of steady training.
std::string how_to_get_more_steps(const Report& report) {
  const std::int64_t needed = report.lateness.steps_needed;
  const auto recorded = static_cast<std::int64_t>(report.steps_present.size());
  if (report.steady && !report.steady->left_out.empty())
    return fmt::format("record {} steady steps or more (20 for good measure)", needed);
  if (!report.steady && recorded > report.lateness.steps && recorded >= needed)
    return fmt::format("look at {} steps or more (--steps): {} are recorded", needed, recorded);
  return fmt::format("record {} steps or more (20 for good measure)", needed);
}

// The steps of which all ranks are known, if they are nearly all from the first of them to the last.
std::string how_to_look_at_common_steps(const Report& report) {
  std::map<std::int64_t, std::size_t> ranks_by_step;
  for (const StepReport& step : report.steps)
    if (step.measures.known && step.measures.waits_known) ++ranks_by_step[step.step];
  std::vector<std::int64_t> common;
  for (const auto& [step, ranks] : ranks_by_step)
    if (ranks == report.ranks.size()) common.push_back(step);
  if (common.empty() ||
      static_cast<std::int64_t>(common.size()) * 10 < (common.back() - common.front() + 1) * 9)
    return "";
  return fmt::format(": `lockstep analyze --steps {}:{}` looks at those that all have", common.front(),
                     common.back());
}

bool ended_badly(const Job& job) {
  return job.end.exit_code.value_or(0) != 0 || job.end.signal.has_value() ||
         job.end.interrupted_by.has_value();
}

// Where the ranks' records hold no steps of some of them, or fewer than of others; nullopt where they don't,
// or nothing at all is known of a rank.
std::optional<Words> words_for_unequal_steps(const FindingContext& context) {
  std::vector<std::int32_t> without, fewest;
  std::set<std::int64_t> all, own;
  std::size_t least = 0;
  for (const RankTrace& rank : context.diagnosis.job.ranks) {
    if (rank.activities.empty()) return std::nullopt;
    own.clear();
    for (const StepMark& step : rank.steps) own.insert(step.number);
    all.insert(own.begin(), own.end());
    if (own.empty()) {
      without.push_back(rank.rank);
      continue;
    }
    if (!fewest.empty() && own.size() > least) continue;
    if (own.size() < least) fewest.clear();
    least = own.size();
    fewest.push_back(rank.rank);
  }
  if (!without.empty())
    return Words{
        fmt::format("ranks wait for each other; {} {} no steps, so that nobody can tell who is late",
                    hang::named(without), without.size() == 1 ? "has" : "have"),
        ended_badly(context.diagnosis.job)
            ? fmt::format(
                  "record a job that goes on: this one ended before {} had ended a step, or {} steps are not "
                  "marked",
                  hang::named(without), without.size() == 1 ? "its" : "their")
            : fmt::format(
                  "mark the steps of {} too (`lockstep.step`, docs/instrumentation.md; torch.profiler's "
                  "step()): without marks only ranks that have an optimizer have steps",
                  hang::named(without))};
  const std::string how = how_to_look_at_common_steps(context.report);
  if (least == all.size() || how.empty()) return std::nullopt;
  return Words{
      fmt::format("ranks wait for each other; {} {} {} of {} steps, so that nobody can tell who is late",
                  hang::named(fewest), fewest.size() == 1 ? "has" : "have", least, all.size()),
      "ranks have different numbers of steps" + how};
}

// Whether the program was seen to start, and all else that the ranks did is what sets a model up: they take
// it over from one of them. Gradients are reduced; and who trains or infers computes.
bool is_start_up_alone(const FindingContext& context) {
  const auto sets_up = [](Operation operation) {
    return operation == Operation::broadcast || operation == Operation::all_gather ||
           operation == Operation::barrier;
  };
  const Job& job = context.diagnosis.job;
  return context.report.account.spent[Spending::start_up] > 0 && !ended_badly(job) &&
         all_known(context.report) && !tells_communication_alone(context.report) &&
         std::ranges::all_of(job.ranks, [&](const RankTrace& rank) {
           return rank.ending.operations.empty() && rank.dropped_events == 0 &&
                  std::ranges::none_of(
                      rank.activities,
                      [](const Activity& activity) { return activity.activity_class == Class::compute; }) &&
                  std::ranges::all_of(rank.communications, [&](const Communication& communication) {
                    return sets_up(communication.operation);
                  });
         });
}

Words words_for(const FindingContext& context) {
  const Report& report = context.report;
  const LatenessReport& lateness = report.lateness;
  if (!report.ranks_missing.empty())
    return {"ranks wait for each other; as some left no record, nobody can tell who is late",
            "record all ranks, and analyze their traces together"};
  if (report.steps_present.empty() && is_start_up_alone(context))
    return {"ranks wait for each other while the job starts, and no rank trained",
            "record a run that trains: this one set its processes and its model up, and computed nothing"};
  if (report.steps_present.empty())
    return {
        "ranks wait for each other; without step marks nobody can tell whether it is one rank again and "
        "again",
        "mark the steps (docs/instrumentation.md; torch.profiler's step(); `lockstep record` finds an "
        "optimizer's)"};
  if (warns_of(report.warnings, kStepsApart))
    return {
        "ranks wait for each other; their steps do not go together, so that nobody can tell who is late",
        "mark what all ranks do together as a step (`lockstep.step`, docs/instrumentation.md); if they do it "
        "at different speeds, give the slower ones fewer local steps"};
  if (lateness.ranks.empty()) {
    if (std::optional<Words> unequal = words_for_unequal_steps(context)) return *std::move(unequal);
    return {"ranks wait for each other; of no step all ranks are known, so that nobody can tell who is late",
            "record all ranks over the same steps"};
  }
  if (const UnjudgedRanks unjudged = unjudged_ranks(report); !unjudged.ranks.empty()) {
    if (std::optional<Words> unequal = words_for_unequal_steps(context)) return *std::move(unequal);
    return {fmt::format("ranks wait for each other; of {} too few steps are known to tell who is late",
                        hang::named(unjudged.ranks)),
            "record all ranks over the same steps"};
  }
  return {
      fmt::format("ranks wait for each other; {} too little to say whether it is one rank again and again",
                  steps_words(lateness.steps)),
      how_to_get_more_steps(report)};
}

// A fact, and no judgement: who most of the waiting was for.
std::string most_waited_for(const Report& report) {
  const BlameReport* most = nullptr;
  std::int64_t all = 0;
  for (const BlameReport& blame : report.blame) {
    all += blame.exposed_ns - blame.scheduled_exposed_ns;
    if (most == nullptr ||
        blame.exposed_ns - blame.scheduled_exposed_ns > most->exposed_ns - most->scheduled_exposed_ns)
      most = &blame;
  }
  if (most == nullptr || all <= 0) return "";
  const std::int64_t own = most->exposed_ns - most->scheduled_exposed_ns;
  // Ranks without steps wait in no window, and so not in what is lost.
  return fmt::format("{} of {} was for rank {}, last in {}", format_share(own, all),
                     all_have_windows(report) ? "it" : "all ranks' waiting, in steps or not,", most->rank,
                     format_plural(most->collectives - most->scheduled_collectives, "operation"));
}

// Who comes last again and again, and may do so for what the cores of its host are like alone; nobody where
// cores are short, which is said, or another finding accuses it.
const RankLateness* late_for_unknown_cores(const FindingContext& context,
                                           const std::vector<Finding>& findings) {
  for (const RankLateness& late : context.report.lateness.ranks) {
    const bool is_accused = std::ranges::any_of(findings, [&](const Finding& finding) {
      return finding.rank == late.rank && finding.accuses == Accused::rank;
    });
    if (late.is_late && !is_accused &&
        for_want_of_cores(context, context.steps, late) == NotAccused::cores_unknown)
      return &late;
  }
  return nullptr;
}

Words words_for_unknown_cores(const FindingContext& context, const RankLateness& late) {
  const Job& job = context.diagnosis.job;
  const auto ran = mean_excess(context.steps, late.rank, &Measures::on_core_ns);
  const bool is_work = late.cause == Cause::compute && (!ran || 2 * *ran >= late.cause_ns);
  const std::string by_computing = fmt::format(
      "record again: if another rank comes last then, it is where processes' memory lies, or other programs. A "
      "counter `tokens` tells how much each rank has to do (docs/instrumentation.md){}",
      has_operators(job) ? "" : ", and `lockstep record --operators` where it takes longer");
  return {"ranks wait for each other, and whether it is one rank's fault can't be told",
          is_work ? by_computing
                  : "see what else runs on these cores (`top`), keep it off them, and record again"};
}

void find_imbalance(const FindingContext& context, std::vector<Finding>& findings) {
  const std::int64_t all = context.total(Cause::barrier_wait);
  const std::int64_t behind = context.behind_hosts() + context.behind_gpu(findings);
  const std::int64_t lost = all - behind - std::min(context.scheduled.in_collectives_ns(), all - behind);
  // Jitter accounts for it; a late rank that is not worth a word needs no other.
  const bool can_tell = context.report.lateness.can_tell && context.report.ranks_missing.empty() &&
                        !unjudged_ranks(context.report).had_most_of(lost);
  const RankLateness* const late = can_tell ? late_for_unknown_cores(context, findings) : nullptr;
  if (can_tell && late == nullptr) return;
  if (!context.is_left_over(findings, Cause::barrier_wait, lost)) return;
  Finding finding = context.all_of_its_cause(kImbalance);
  finding.lost_ns = lost;
  Words words = late == nullptr ? words_for(context) : words_for_unknown_cores(context, *late);
  finding.title = std::move(words.title);
  finding.remedy = std::move(words.remedy);
  if (std::string fact = most_waited_for(context.report);
      !fact.empty() && !warns_of(context.report.warnings, kStepsApart))
    finding.evidence.push_back(std::move(fact));
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::imbalance{kImbalanceKinds, find_imbalance};

}  // namespace lockstep::analyzer
