// A rank that is late step after step, or once in so many steps, beyond chance and by an amount that matters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/accusation.h"
#include "analyzer/diagnose/blame.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/late_reason.h"
#include "analyzer/diagnose/late_words.h"
#include "analyzer/diagnose/places.h"
#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/intervals/median.h"
#include "analyzer/lateness/core_waits.h"
#include "analyzer/lateness/growth.h"
#include "analyzer/lateness/late_by_cause.h"
#include "analyzer/lateness/late_since.h"
#include "analyzer/lateness/periodic_lateness.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kStragglerRemedies = std::to_array<Remedy>(
    {{"the machine",
      "`lockstep record --cpu` puts page faults, context switches, clocks and throttling beside the steps; "
      "`nvidia-smi -q -d PERFORMANCE,CLOCK`"},
     {"PyTorch", "batches of equal work: bucket samples by length, `DistributedSampler(shuffle=True)`"},
     {"the program", "what rank 0 does alone (logging, checkpoints, evaluation) off the training loop"}});
constexpr Explanation kStragglerExplained{
    .meaning =
        "One rank is ready later than the others again and again, and the rest of the group idles until it "
        "is there. Persistent: step after step. Since: from some step of the run on, to its end. Periodic: "
        "once in so many steps. The title says first what the rank does longer than the others, where that "
        "is known.",
    .found =
        "How late a rank is in a step is what it waits less than the median of the others, outside of "
        "compute. Persistent: twelve blocks of consecutive steps (fewer where there are fewer steps) order "
        "the ranks; the rank is so often among the latest that healthy ranks would show it in at most 1 of "
        "200 runs; its mean lies 4 of its standard errors above 0 (4.5 in 20 steps), up to 8 where single "
        "steps vary by much, corrected for the correlation of neighbouring steps; it is late by 2 % of a step at "
        "least, by more than its own mean moves between blocks, in both halves of the run, and by more than "
        "the clocks leave open. Since: the same in the last three quarters, half or quarter of the run (each "
        "at a level of 1 in 1,500), by 4 % of a step; before, it was like the others (later by a quarter, "
        "earlier by half at most), and the change is two and a half times what its mean moves between "
        "blocks, and twice any other rank's. Periodic: in steps whose numbers are one period apart, three or "
        "more, the rank's own time exceeds the others' more than in its other steps, so often that chance "
        "does it in at most 1 of 500 runs; it is late by 2 % of a step in these, and by a quarter of that in "
        "the others at most, and no other rank is late in other steps of the same period, for then ranks "
        "take turns. And the others' exposed waits for it reach 0.5 % of all time. A rank that is "
        "host-bound, loads data or copies longer in eight of ten steps, by 6 % of a step and as consistently "
        "as asked of lateness, is named as well where noise hides how late that makes it. So is one whose "
        "training threads run a quarter longer than the others'. Nobody is named where a rank left no "
        "record, nor for waiting for a core (cores_shared), unless it may use fewer of them than the others, or "
        "computes longer, or alone collects garbage in eight of ten steps, for half of its lateness, while its "
        "threads run a quarter longer than any other's; nor, on CPUs, for what may be waiting for a core where "
        "nothing tells, or for computing longer beside other programs, by less (without what it waits for a core) than the others compute at all and without evidence of more work (cores_unknown); and where the hosts of GPUs run ahead of them, a rank is "
        "late by no more than "
        "what the others' hosts have left of the step. A pipeline's stage whose passes compute longer is not "
        "named for it, for that may be its work, unless its layers or the same stage elsewhere show that it "
        "is slow (see `unbalanced_stages`); it is for what it computes beside its passes, or idles while another "
        "stage waits for its message, from 5 % of a step on. The reason (`reason`) is the cause, or the two, whose "
        "time exceeds the others' by half of the lateness at least, in eight of ten blocks. "
        "Where `lockstep record --cpu` read the GPUs' clocks, a lower one is the reason (`clocks_lower`) "
        "if, among what was read while ranks computed in these steps (five readings at least, over half "
        "of the steps), the rank's median lies more than 2 % below the others', work that is bound by the "
        "clock would take longer by half of what the rank computes longer at least, no part of the model "
        "alone takes longer, and every other rank whose clock is as low computes longer, too. "
        "docs/statistics.md has the tests and what each reason means.",
    .wrong =
        "Its steps wait as much as the others' do (the table of ranks), another recording of the same job "
        "names another rank, or hosts' clocks are less certain than the lateness.",
    .lost =
        "the exposed waits of the others for it (of a pipeline's stage, of a rhythm's steps, and of a rank that "
        "is named by what it does longer, at most that time, in every such step and of every other rank); and, where it sleeps, loads, runs what has no name or waits for a core "
        "longer, its own time by that beyond the others'; and what it computes in a line of Python where the others are "
        "not, up to how much later it is ready than they",
    .remedies = kStragglerRemedies,
};
constexpr FindingKind kStragglerPersistent{
    .code = "straggler_persistent",
    .title = "the others wait for one rank",
    .cause = Cause::barrier_wait,
    .accounts = Accounts::yes,
    .accuses = Accused::rank,
    .points_at = PointsAt::worst_operation,
    .picture = "arrival",
    .topic = Topic::late_throughout,
    .explanation = &kStragglerExplained,
};
constexpr FindingKind late_in_part(std::string_view code) {
  FindingKind kind = kStragglerPersistent.with_code(code);
  kind.topic = Topic::other;
  return kind;
}
constexpr FindingKind kStragglerSince = late_in_part("straggler_since");
constexpr FindingKind kStragglerPeriodic = late_in_part("straggler_periodic");

constexpr auto kSlowLinkOfRankRemedies = std::to_array<Remedy>(
    {{"NCCL",
      "NCCL_DEBUG=INFO names the transport of each channel; NCCL_IB_HCA, NCCL_SOCKET_IFNAME choose the "
      "interface"},
     {"between hosts", "`ethtool`, `ibstat`, cables and switch ports; `lockstep record --cpu` counts drops"},
     {"within a host", "`nvidia-smi nvlink -s`, `nvidia-smi topo -m`; on CPUs the rank's cores and memory"}});
constexpr Explanation kSlowLinkOfRankExplained{
    .meaning =
        "A rank is late because its part of the operations before took longer than the others' part of the "
        "same operations, after everybody had come: it was held up by its link, not by its work.",
    .found =
        "As for a persistent straggler, in whose place it stands, and what exceeds the others' time is "
        "transfer: by half of that at least in operations that the others carry out at the same size, or "
        "groups of as many ranks on as many hosts. Where these stay on one host, its transfer has to be a "
        "quarter longer than the others' at least: processes of one host share its path. Not of CPUs within one "
        "host, or whose cores do not suffice: what carries out transfers there wants cores as well.",
    .wrong =
        "The rank computes longer than the others between the operations: then it would be late without "
        "the link.",
    .lost = "the others' exposed waiting for that rank",
    .remedies = kSlowLinkOfRankRemedies,
};
constexpr FindingKind kSlowLinkOfRank{
    .code = "slow_link_of_rank",
    .title = "one rank's transfers take longer than the others', and it comes late to what follows",
    .cause = Cause::barrier_wait,
    .accounts = Accounts::yes,
    .accuses = Accused::link,
    .points_at = PointsAt::worst_operation,
    .picture = "arrival",
    .explanation = &kSlowLinkOfRankExplained,
};
constexpr auto kStragglerKinds = std::to_array<const FindingKind*>(
    {&kStragglerPersistent, &kStragglerSince, &kStragglerPeriodic, &kSlowLinkOfRank});

constexpr std::int64_t kRootPermille = 10;

// When a rank is late, and how the finding says it.
struct When {
  const FindingKind* kind = nullptr;
  std::string begins;    // the title: "from step 104 on "
  std::string how_much;  // and ends: " (9.3 % of each step)"
  std::string evidence;
  // Evidence and how_much are of what it does longer, because noise hides how late that makes it.
  bool by_cause = false;
  std::int64_t period = 0;  // in steps; 0: no rhythm
};

When throughout(const LatenessReport& lateness, const RankLateness& late) {
  return {&kStragglerPersistent, "", fmt::format(" ({} of each step)", format_share(late.share)),
          describe_lateness(lateness, late)};
}

When by_its_cause(const LatenessReport& lateness, const RankLateness& late) {
  When when = throughout(lateness, late);
  when.evidence = describe_time(lateness, late);
  if (late.is_of_running && lateness.step_ns > 0)
    when.how_much = fmt::format(" ({} of each step)", format_share(late.cause_ns, lateness.step_ns));
  when.by_cause = true;
  return when;
}

When from_step_on(const LateSince& since) {
  When when = throughout(since.since, since.late);
  when.kind = &kStragglerSince;
  if (!since.did_so_before) when.begins = fmt::format("from step {} on ", since.step);
  when.evidence +=
      since.before_ns == 0
          ? fmt::format("; before step {} it was ready with the others, in the median", since.step)
          : fmt::format("; before step {} it was ready {} {} than the others, in the median", since.step,
                        format_duration(std::abs(since.before_ns)),
                        since.before_ns < 0 ? "earlier" : "later");
  if (since.did_so_before) when.evidence += ", though it did as much before";
  return when;
}

When once_in_so_many(const PeriodicLateness& periodic) {
  When when;
  when.kind = &kStragglerPeriodic;
  when.begins = fmt::format("every {} steps ", periodic.period);
  when.period = periodic.period;
  when.evidence = fmt::format(
      "late once in {} steps, from step {} on, {} times: {} later than the median of the others then, and {} "
      "in the steps between (medians)",
      periodic.period, periodic.first, periodic.times, format_duration(periodic.late_ns),
      format_duration(std::max<std::int64_t>(0, periodic.otherwise_ns)));
  return when;
}

std::string title_of_link(const RankLateness& late, const When& when) {
  return fmt::format(
      "{}rank {} is late because the operations before end late on it: its link is slow, not its work{}",
      when.begins, late.rank,
      late.share > 0 ? fmt::format(" ({} of each step)", format_share(late.share)) : "");
}

std::string remedy_of_rhythm(std::int32_t rank, std::int64_t period, const std::string& line) {
  if (!line.empty())
    return fmt::format(
        "see why rank {} takes longer in {} once in {} steps; if it alone does something there, let all ranks do "
        "it in the same step, or do it beside the training loop",
        rank, line, period);
  return fmt::format(
      "look for what rank {} does once in {} steps: a checkpoint, an evaluation, logging, garbage collection "
      "(`gc.freeze()`); let all ranks do it in the same step, or beside the training loop",
      rank, period);
}

// What it computes in a line of Python where the others are not, in a step: no part of the job's work that
// all have to do. Without it the others would be waited for, once it is as early as they.
std::int64_t computes_alone(const RankLateness& late, const LateReason& reason) {
  return std::max<std::int64_t>(0, std::min({reason.alone_ns, late.cause_ns, late.mean_ns}));
}

// Of a rank that is late in these steps.
Finding make_finding(const FindingContext& context, const StepTable& steps, const RankLateness& late,
                     const When& when, const BlameReport& blame) {
  LateReason reason = reason_of(context, steps, late);
  const bool is_link = reason.code == "link";
  Finding finding = (is_link ? kSlowLinkOfRank : *when.kind).make();
  finding.rank = late.rank;
  finding.reason = reason.code;
  finding.parts = std::move(reason.parts);
  const std::int64_t waited_in_windows = lost_by_others(context, blame);
  finding.lost_ns = waited_in_windows;
  const std::string how_much =
      reason.ns && context.report.lateness.step_ns > 0
          ? fmt::format(" ({} of each step)", format_share(*reason.ns, context.report.lateness.step_ns))
          : when.how_much;
  // What it waits for a core is up to the other programs, and grows with what these do.
  const bool may_grow = when.period == 0 && reason.code != kWaitsForCore;
  const std::optional<Cause> cause = reason.part ? std::optional(reason.part->cause) : std::nullopt;
  const std::optional<Growth> growth = may_grow ? growth_of(steps, late.rank, cause) : std::nullopt;
  const char* const growing = growth ? " longer and longer" : "";
  finding.title = when.by_cause ? fmt::format("{}rank {} {}{}: the others wait for it{}", when.begins,
                                              late.rank, reason.doing, how_much, growing)
                                : fmt::format("{}rank {} {}: the others wait for it{}{}", when.begins,
                                              late.rank, reason.doing, growing, when.how_much);
  // No more than what the others can have waited for that; in a pipeline the rest is its schedule's.
  // So in the steps of a rhythm, between which they wait for other things.
  if (when.by_cause || when.kind == &kStragglerPeriodic || !context.report.pipeline.empty() ||
      steps.is_limited()) {
    const auto times = static_cast<std::int64_t>((steps.rank_count() - 1) * steps.steps.size());
    const std::int64_t late_ns = when.by_cause ? late.cause_ns : std::max<std::int64_t>(0, late.mean_ns);
    finding.lost_ns = std::min(finding.lost_ns, late_ns * times);
  }
  // Without the cause the rank itself would be as much faster.
  std::int64_t own_ns =
      finding.reason == kWaitsForCore ? std::max<std::int64_t>(0, core_wait_excess(steps, late).value_or(0)) *
                                            static_cast<std::int64_t>(steps.steps.size())
      : finding.reason == kComputesLonger
          ? computes_alone(late, reason) * static_cast<std::int64_t>(steps.steps.size())
          : context.said_of_late_ranks({finding}, reason.part ? reason.part->cause : Cause::other);
  // Nor more than it is late by, where all hosts are slow (host_pace.h).
  if (steps.is_limited())
    own_ns = std::min(
        own_ns, std::max<std::int64_t>(0, late.mean_ns) * static_cast<std::int64_t>(steps.steps.size()));
  const std::int64_t of_the_others = finding.lost_ns;
  finding.lost_ns = saturating_add(finding.lost_ns, own_ns);
  finding.own_ns = own_ns;
  finding.has_core_waits = context.on_cpu && own_ns > 0;
  finding.evidence.push_back(when.evidence);
  if (growth)
    finding.evidence.push_back(fmt::format(
        "it grows: {} {} in the first third of {}, {} in the last (medians)",
        format_duration(growth->first_third_ns), cause ? "longer" : "later",
        when.begins.empty() ? "the steps" : "these steps", format_duration(growth->last_third_ns)));
  finding.evidence.insert(finding.evidence.end(), reason.evidence.begin(), reason.evidence.end());
  // Of a rhythm most of it may lie between its steps; what is lost does not.
  finding.evidence.push_back((when.period > 0 ? "over all steps " : "") +
                             describe_waiting(context.report, blame, context.scheduled));
  if (own_ns > 0) finding.evidence.push_back(describe_loss(finding.lost_ns, of_the_others, own_ns));
  if (const std::int64_t held = context.roots.for_receiver(late.rank); context.is_worth(held, kRootPermille))
    finding.evidence.push_back(describe_held_roots(held));
  if (waited_in_windows < blame.exposed_ns) finding.evidence.emplace_back(kOnlyKnownSteps);
  if (!blame.root_cause.empty() && !is_link && !is_of_host(reason.code) && reason.code != "loads_data" &&
      !reason.names_line)
    finding.evidence.push_back("why: " + blame.root_cause);
  // Seen where it is late, and not in what others waited longer for before.
  if (steps.steps.size() < context.steps.steps.size())
    finding.place = worst_operation_of(finding, context, steps);
  finding.remedy = std::move(reason.remedy);
  if (is_link) finding.title = title_of_link(late, when);
  if (when.period > 0) finding.remedy = remedy_of_rhythm(late.rank, when.period, reason.line);
  return finding;
}

// In half of its late steps, or those before them, it alone saves, evaluates or compiles: that is said, and
// how long it takes (outside_training).
bool is_of_a_phase(const Interruptions& interruptions, const PeriodicLateness& periodic) {
  const auto holds = [&](std::int64_t step) {
    return std::ranges::any_of(interruptions.of, [&](const PhaseInSteps& phase) {
      const auto near = std::ranges::lower_bound(phase.stretches, step - 1, {}, &PhaseStretch::last);
      return near != phase.stretches.end() && near->first <= step && near->rank == periodic.rank;
    });
  };
  const std::vector<std::int64_t>& late = periodic.steps.steps;
  return 2 * std::ranges::count_if(late, holds) >= static_cast<std::ptrdiff_t>(late.size());
}

RankLateness in_its_steps(const PeriodicLateness& periodic) {
  RankLateness late;
  late.rank = periodic.rank;
  late.mean_ns = periodic.late_ns;
  return late;
}

void find_stragglers(const FindingContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  bool any = false;
  const auto find = [&](const StepTable& steps, const RankLateness& late, const When& when) {
    if (for_want_of_cores(context, steps, late)) return;
    any = true;
    const std::optional<BlameReport> blame = blame_worth_accusing(context, late.rank);
    if (!blame) return;
    Finding finding = make_finding(context, steps, late, when, *blame);
    if (!may_be_its_stages_work(context, finding.reason, late)) findings.push_back(std::move(finding));
  };
  // Who is late in few steps by much is late in the mean as well: what is special about the steps comes
  // first.
  std::set<std::int32_t> named;
  if (const std::optional<PeriodicLateness> periodic = periodic_lateness(context.steps)) {
    const std::optional<BlameReport> blame = blame_worth_accusing(context, periodic->rank);
    const bool another_is_late =
        std::any_of(report.lateness.ranks.begin(), report.lateness.ranks.end(),
                    [&](const RankLateness& late) { return late.is_late && late.rank != periodic->rank; });
    const RankLateness late = in_its_steps(*periodic);
    if (blame && !another_is_late && !waits_for_a_shared_core(context, periodic->steps, late) &&
        !is_of_a_phase(context.diagnosis.interruptions, *periodic)) {
      findings.push_back(make_finding(context, periodic->steps, late, once_in_so_many(*periodic), *blame));
      named.insert(periodic->rank);
    }
  }
  for (const LateSince& since : late_since(context.steps, report)) {
    if (!named.insert(since.late.rank).second) continue;
    find(since.steps, since.late, from_step_on(since));
  }
  for (const RankLateness& late : report.lateness.ranks)
    if (late.is_late && !named.contains(late.rank))
      find(context.steps, late, throughout(report.lateness, late));
  if (any || !named.empty()) return;
  // Stages of a pipeline differ by design.
  const bool staged = !report.pipeline.empty();
  LateByCause by_cause(context.steps);
  for (std::size_t rank = 0; rank < report.lateness.ranks.size() && !staged; ++rank) {
    const std::optional<RankLateness> late = late_by_one_cause(context, by_cause, rank);
    if (late) find(context.steps, *late, by_its_cause(report.lateness, *late));
  }
}

}  // namespace

const FindingRule rules::straggler{kStragglerKinds, find_stragglers};

}  // namespace lockstep::analyzer
