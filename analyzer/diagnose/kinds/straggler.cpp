#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/blame.h"
#include "analyzer/diagnose/compute_names.h"
#include "analyzer/diagnose/exposed_waits.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/inherited_lateness.h"
#include "analyzer/diagnose/periodic_lateness.h"
#include "analyzer/diagnose/root_cause.h"
#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/report/quantity.h"

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
        "A rank comes last to the collectives far more often than chance would have it; the rest of the "
        "group idles until it is there. Persistent: in most steps the same one. Transient: in some steps "
        "only.",
    .found =
        "The rank arrives last two standard deviations above chance, or leads in most steps, and the others' "
        "exposed waits for it reach 1 % of all time. Arrivals closer than the clocks' uncertainty name "
        "nobody.",
    .wrong =
        "Its arrivals are not later than the others' in the table of collectives, or hosts' clocks are less "
        "certain than the margins. Where the reason is that it came into the recording late, a later step is "
        "on time.",
    .lost = "the exposed waits of the others for it",
    .remedies = kStragglerRemedies,
};
constexpr FindingKind kStraggler{
    .code = "straggler",
    .title = "the others wait for one rank",
    .cause = Cause::barrier_wait,
    .accounts = Accounts::yes,
    .accuses = Accused::rank,
    .points_at = PointsAt::worst_operation,
    .picture = Picture::arrival,
    .explanation = &kStragglerExplained,
};
constexpr FindingKind kStragglerPersistent = kStraggler.with_code("straggler_persistent");
constexpr FindingKind kStragglerTransient = kStraggler.with_code("straggler_transient");
constexpr FindingKind kStragglerPeriodic = kStraggler.with_code("straggler_periodic");
constexpr auto kSlowLinkOfRankRemedies = std::to_array<Remedy>(
    {{"NCCL",
      "NCCL_DEBUG=INFO names the transport of each channel; NCCL_IB_HCA, NCCL_SOCKET_IFNAME choose the "
      "interface"},
     {"the host", "`ethtool`, `ibstat`, cables and switch ports; `lockstep record --cpu` counts drops"}});
constexpr Explanation kSlowLinkOfRankExplained{
    .meaning =
        "A rank that is late because the collective before ended late on it was held up by its link, not by "
        "its work: the time between that end and its arrival is no longer than the others'.",
    .found =
        "As for a straggler, and at least half of the waiting for the rank is in operations where it had "
        "ended the group's operation before later than the rank that waits, by at least half of its "
        "lateness.",
    .wrong =
        "The rank computes longer than the others between the two operations: then it would be late without "
        "the link.",
    .lost = "the others' exposed waiting for that rank",
    .remedies = kSlowLinkOfRankRemedies,
};
constexpr FindingKind kSlowLinkOfRank{
    .code = "slow_link_of_rank",
    .title = "one rank's transfers end later than the others', and it comes late to what follows",
    .cause = Cause::barrier_wait,
    .accounts = Accounts::yes,
    .accuses = Accused::link,
    .points_at = PointsAt::worst_operation,
    .picture = Picture::arrival,
    .explanation = &kSlowLinkOfRankExplained,
};
constexpr auto kKinds = std::to_array<const FindingKind*>(
    {&kStraggler, &kStragglerPersistent, &kStragglerTransient, &kStragglerPeriodic, &kSlowLinkOfRank});

constexpr std::int64_t kWorthPermille = 10;  // of all ranks' windows
constexpr std::int64_t kOperations = 2;      // once is chance

std::string remedy_for(Cause cause, std::int32_t rank, bool on_cpu) {
  switch (cause) {
    case Cause::compute:
      if (on_cpu) {
        return fmt::format(
            "give rank {} cores of its own (`taskset -c`, OMP_NUM_THREADS = cores / ranks of the host); if "
            "its work is larger, balance the batches over ranks. Whether it was on a core at all, `lockstep "
            "record --cpu` counts",
            rank);
      }
      return fmt::format(
          "on rank {}'s host: `nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE` beside a fast rank's; where "
          "clocks agree its work is larger: balance batches by length (tokens, not samples)",
          rank);
    case Cause::data_wait:
      return "DataLoader(num_workers=8, prefetch_factor=4, persistent_workers=True, pin_memory=True), and "
             "the same amount "
             "of data work on every rank";
    case Cause::host_bound:
      if (on_cpu) return fmt::format("see what rank {}'s process does between its computations", rank);
      return fmt::format(
          "rank {}'s process: pin it (`numactl --cpunodebind=N --membind=N`), `gc.freeze(); gc.disable()`, "
          "fewer launches (`torch.compile(mode=\"reduce-overhead\")`)",
          rank);
    case Cause::copy:
      return "pin_memory=True and `.to(device, non_blocking=True)`, so that copies run beside compute";
    case Cause::queued:
      return "look for stream waits and synchronising calls before the collective on that rank";
    case Cause::transfer:
      return "look at that rank's links: NCCL_DEBUG=INFO names the transport of each channel";
    default:
      return fmt::format(
          "record rank {} with host ranges and launches, to see what it does before it arrives", rank);
  }
}

// A rank that does more of the same work needs less of it; one that does the same work more slowly needs
// better conditions.
std::string remedy_for(const FindingContext& context, const LateCause& cause, std::int32_t rank) {
  if (cause.entered_late) {
    return fmt::format(
        "record more than one step, from before it on: a later step shows whether rank {} comes late there "
        "too, and "
        "why. Where it does not, this is how the recording began (profilers of different ranks start at "
        "different "
        "times)",
        rank);
  }
  if (cause.cause == Cause::compute) {
    const std::optional<SlowComputation> slow =
        slowest_computation(context.diagnosis, costliest_delays(cause));
    if (slow && slow->is_more_work) {
      return fmt::format(
          "rank {} is given more to compute than the others: balance the work over ranks (batches by length, "
          "experts and layers by cost)",
          rank);
    }
  }
  return remedy_for(cause.cause, rank, context.on_cpu);
}

std::string remedy_of(const FindingContext& context, const BlameReport& blame,
                      const std::vector<LateCause>& causes, const PeriodicLateness& periodic) {
  if (blame.partial)
    return "record all ranks first: one without a record takes part in most of these, and may have come "
           "later";
  if (periodic.period > 0) {
    return fmt::format(
        "look for what rank {} does once in {} steps: a checkpoint, an evaluation, logging, garbage "
        "collection "
        "(`gc.freeze()`); let all ranks do it in the same step, or beside the training loop",
        blame.rank, periodic.period);
  }
  // What explains a small part of it is no reason to change anything.
  const bool explained = !causes.empty() && causes.front().blame_ns > blame.blame_ns / 4;
  return explained ? remedy_for(context, causes.front(), blame.rank)
                   : remedy_for(Cause::other, blame.rank, context.on_cpu);
}

// Waiting in several operations at once is lost once.
std::string describe_waiting(const Report& report, const BlameReport& blame,
                             const ScheduledWaits& scheduled) {
  const std::string waited = format_duration(blame.blame_ns);
  const std::int64_t lost = blame.exposed_ns;
  if (lost == blame.blame_ns)
    return fmt::format("the others waited {} for it, and compute hid none of it", waited);
  std::int64_t each_for_itself = 0;
  for (const CollectiveReport& collective : report.collectives) {
    if (collective.last_arriver == blame.rank && !scheduled.contains(collective))
      each_for_itself = saturating_add(each_for_itself, exposed_in(collective));
  }
  if (each_for_itself == lost) {
    return fmt::format("the others waited {} for it, and compute hid all but {} of it", waited,
                       format_duration(lost));
  }
  return fmt::format(
      "the others waited {} for it, operation by operation; often in several at once, or while another one "
      "moved data: what they lost is {}",
      waited, format_duration(lost));
}

std::string describe(const PeriodicLateness& periodic) {
  return fmt::format(
      "late once in {} steps, from step {} on, {} times: the others wait {} for it then, and {} in the steps "
      "between "
      "(medians)",
      periodic.period, periodic.first, periodic.times, format_duration(periodic.late_ns),
      format_duration(periodic.otherwise_ns));
}

// The rank's transfers end late, and so it comes late to what follows.
Finding slow_link_of(const BlameReport& blame, const InheritedLateness& inherited, std::size_t known) {
  Finding finding = kSlowLinkOfRank.make();
  finding.rank = blame.rank;
  finding.title = fmt::format(
      "rank {} comes last to {} of {} collectives because the ones before end late on it: its link is slow, "
      "not "
      "its work",
      blame.rank, blame.collectives, known);
  finding.evidence = {
      fmt::format("the others waited {} for it, {} of it where it had ended the group's operation "
                  "before later than they by at least half of its lateness ({})",
                  format_duration(blame.blame_ns), format_duration(inherited.blame_ns),
                  format_plural(inherited.collectives, "operation"))};
  finding.remedy = fmt::format(
      "look at the links of rank {} and of those it exchanges data with: NCCL_DEBUG=INFO names the transport "
      "of each "
      "channel; `ethtool`, `ibstat` their rate; `lockstep record --cpu` counts what interfaces drop and send "
      "again",
      blame.rank);
  finding.lost_ns = blame.exposed_ns;
  return finding;
}

void find_stragglers(const FindingContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  std::size_t known = 0;
  const ScheduledWaits& scheduled = context.scheduled;
  for (const CollectiveReport& collective : report.collectives)
    known += collective.ranks.size() > 1 && !scheduled.contains(collective) ? 1 : 0;
  for (BlameReport blame : report.blame) {
    scheduled.take_from(blame);
    const std::int64_t lost = blame.exposed_ns;
    if (blame.collectives < kOperations || !context.is_worth(lost, kWorthPermille)) continue;
    // Everyone is last now and then: more than two standard deviations above chance, or in most steps.
    const auto ranks = static_cast<double>(report.ranks.size());
    const double by_chance = static_cast<double>(known) / ranks;
    const double deviation = std::sqrt(by_chance * (1 - 1 / ranks));
    const bool often = static_cast<double>(blame.collectives) > by_chance + 2 * deviation;
    const auto off_schedule = [&scheduled](const CollectiveReport& collective) {
      return !scheduled.contains(collective);
    };
    // Of none the period is 0.
    const PeriodicLateness periodic =
        blame.partial ? PeriodicLateness{}
                      : periodic_lateness(report, blame.rank, off_schedule).value_or(PeriodicLateness{});
    const bool is_periodic = periodic.period > 0;
    if (!often && !blame.persistent.value_or(false) && !is_periodic) continue;
    const InheritedLateness inherited = inherited_lateness(report, blame.rank, off_schedule);
    if (inherited.blame_ns > blame.blame_ns / 2) {
      findings.push_back(slow_link_of(blame, inherited, known));
      continue;
    }
    const bool persistent = blame.persistent.value_or(false);
    Finding finding = (is_periodic         ? kStragglerPeriodic
                       : !blame.persistent ? kStraggler
                       : persistent        ? kStragglerPersistent
                                           : kStragglerTransient)
                          .make();
    finding.title =
        blame.partial
            ? fmt::format("rank {} arrives last in {} of {} collectives, among the ranks that left a record",
                          blame.rank, blame.collectives, known)
            : fmt::format("{}rank {} arrives last in {} of {} collectives, and the others wait for it",
                          is_periodic         ? "periodic straggler: "
                          : !blame.persistent ? ""
                          : persistent        ? "persistent straggler: "
                                              : "transient straggler: ",
                          blame.rank, blame.collectives, known);
    finding.evidence.push_back(describe_waiting(report, blame, scheduled));
    if (is_periodic) finding.evidence.push_back(describe(periodic));
    const std::vector<LateCause> causes =
        causes_of_lateness(context.diagnosis, report, blame.rank, off_schedule);
    if (!blame.root_cause.empty()) finding.evidence.push_back("why: " + blame.root_cause);
    if (!causes.empty()) {
      finding.evidence.push_back(fmt::format("this explains {} of these {} collectives, {} of the waiting",
                                             causes.front().operations, blame.collectives,
                                             format_share(causes.front().blame_ns, blame.blame_ns)));
    }
    finding.rank = blame.rank;
    finding.remedy = remedy_of(context, blame, causes, periodic);
    finding.lost_ns = lost;
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const FindingRule rules::straggler{kKinds, find_stragglers};

}  // namespace lockstep::analyzer
