#include "analyzer/diagnose/accusation.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "analyzer/diagnose/host_shortage.h"
#include "analyzer/diagnose/late_reason.h"
#include "analyzer/diagnose/own_doing.h"
#include "analyzer/diagnose/rank_transfers.h"
#include "analyzer/diagnose/stage_imbalance.h"
#include "analyzer/lateness/core_waits.h"
#include "analyzer/lateness/late_ranks.h"
#include "analyzer/model/gpus.h"
#include "analyzer/report/unsettled_lateness.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// Of all ranks' windows. Among many ranks somebody is late in every step by noise alone, and a slow one adds
// little to that: of 64 ranks with 2 % of noise one that is slower by 5 % costs about 1 %.
constexpr std::int64_t kWorthPermille = 5;

const BlameReport* blame_of(const Report& report, std::int32_t rank) {
  const auto found = std::find_if(report.blame.begin(), report.blame.end(),
                                  [rank](const BlameReport& blame) { return blame.rank == rank; });
  return found == report.blame.end() ? nullptr : &*found;
}

// The finding that says that the rank is late; of one that is late throughout also one that says why it is,
// as that of the heaviest stage does. nullptr where there is none.
const Finding* accusing_finding(const std::vector<Finding>& findings, const RankLateness& late) {
  const Finding* other = nullptr;
  for (const Finding& finding : findings) {
    if (finding.rank != late.rank || finding.alarm != Alarm::none) continue;
    if (is_about_lateness(finding)) return &finding;
    if (late.is_late && finding.accuses == Accused::rank && other == nullptr) other = &finding;
  }
  return other;
}

// Its stage of a pipeline has more to compute: unbalanced_stages says so.
bool has_heaviest_stage(const FindingContext& context, std::int32_t rank) {
  const std::vector<PipelineReport>& pipelines = context.report.pipeline;
  return std::any_of(pipelines.begin(), pipelines.end(), [&](const PipelineReport& pipeline) {
    const std::optional<StageImbalance> imbalance = stage_imbalance_of(context.report, pipeline);
    return imbalance && imbalance->stage->rank == rank &&
           context.is_worth(imbalance->lost_ns, kStageImbalancePermille);
  });
}

// Half of what it is late by may be what its stage has to compute.
bool is_late_as_its_stage(const FindingContext& context, const RankLateness& late) {
  const std::int64_t longer_ns = longer_as_its_stage(context.report, late.rank);
  return longer_ns > 0 && 2 * longer_ns >= late.mean_ns;
}

// Of a rank that is late throughout and that no finding accuses.
NotAccused why_not(const FindingContext& context, const RankLateness& late) {
  if (tells_communication_alone(context.report)) return NotAccused::communication_alone;
  if (const auto cores = for_want_of_cores(context, context.steps, late)) return *cores;
  const BlameReport* const blame = blame_of(context.report, late.rank);
  if (blame != nullptr && blame->partial) return NotAccused::rank_without_record;
  if (!blame_worth_accusing(context, late.rank)) return NotAccused::little_lost;
  if (has_heaviest_stage(context, late.rank) || is_late_as_its_stage(context, late))
    return NotAccused::stage_computes_more;
  // In the steps from which on it is late.
  return context.shortages.empty() ? NotAccused::cores_unknown : NotAccused::cores_shared;
}

// It computes on cores that another rank of its host may use as well, and nothing tells when it had one.
bool are_cores_unknown(const FindingContext& context, std::int32_t rank) {
  if (!context.on_cpu) return false;
  const std::vector<RankTrace>& ranks = context.diagnosis.job.ranks;
  const auto own = std::ranges::find(ranks, rank, &RankTrace::rank);
  return own != ranks.end() && own->scheduling.empty() &&
         std::ranges::any_of(
             ranks, [&](const RankTrace& other) { return other.rank != rank && other.host == own->host; });
}

// What the rank computes moves by a twenty-fifth of a step at most from one step to the next, in the mean:
// other programs come and go on cores, and where they took them healthy ranks moved by 5 % and more.
bool computes_steadily(const StepTable& steps, std::int32_t rank) {
  constexpr std::int64_t kOfStep = 25;
  const std::size_t index = steps.index_of(rank);
  std::int64_t moved_ns = 0, window_ns = 0;
  // The first and the last step may hold more or less than a whole one.
  for (std::size_t step = 2; step + 1 < steps.steps.size(); ++step) {
    const Measures& before = steps.cell(step - 1, index).measures;
    const Measures& now = steps.cell(step, index).measures;
    moved_ns = saturating_add(moved_ns, std::abs(now.compute_ns - before.compute_ns));
    window_ns = saturating_add(window_ns, now.window_ns);
  }
  return moved_ns <= window_ns / kOfStep;
}

// Something other than its time tells that the rank does more than the others, or one part of what it
// computes takes longer, where a want of cores would make all of it longer; or it idles for so much longer
// that no want of cores explains it.
bool has_own_evidence(const FindingContext& context, const StepTable& steps, const RankLateness& late) {
  constexpr std::int64_t kIdling = 4;
  if (late.cause == Cause::host_bound || late.cause == Cause::data_wait)
    return late.cause_ns >= kIdling * late.others_ns || collects_garbage_alone(context, steps, late);
  const LateReason reason = reason_of(context, steps, late);
  return reason.code == "more_work" || reason.code == "other_kernels" || reason.code == "blocked" ||
         reason.names_part || (reason.names_line && reason.is_alone_there);
}

// Of CPUs on which other programs run: ranks of the rank's host wait for a core for a hundredth of their
// steps.
bool run_others_on_cores(const FindingContext& context, const StepTable& steps, std::int32_t rank) {
  const std::vector<RankTrace>& ranks = context.diagnosis.job.ranks;
  const auto own = std::ranges::find(ranks, rank, &RankTrace::rank);
  if (own == ranks.end()) return false;
  for (std::size_t index = 0; index < steps.rank_count(); ++index) {
    const auto other = std::ranges::find(ranks, steps.ranks[index], &RankTrace::rank);
    if (other == ranks.end() || other->host != own->host) continue;
    std::int64_t waited_ns = 0, window_ns = 0;
    for (std::size_t step = 0; step < steps.steps.size(); ++step) {
      const Measures& measures = steps.cell(step, index).measures;
      waited_ns = saturating_add(waited_ns, measures.run_queue_ns.value_or(0));
      window_ns = saturating_add(window_ns, measures.window_ns);
    }
    if (is_beside_others(waited_ns, window_ns)) return true;
  }
  return false;
}

// Its threads ran twice as long as those of the others, in the mean over the steps.
bool ran_twice_as_long(const StepTable& steps, std::int32_t rank) {
  const std::optional<std::int64_t> more = mean_excess(steps, rank, &Measures::on_core_ns);
  if (!more || steps.steps.empty()) return false;
  std::int64_t own = 0;
  for (std::size_t step = 0; step < steps.steps.size(); ++step)
    own = saturating_add(own, steps.cell(step, steps.index_of(rank)).measures.on_core_ns.value_or(0));
  return 2 * *more >= own / static_cast<std::int64_t>(steps.steps.size());
}

// It computes longer, by less than the others compute at all (without what it waits for a core), and nothing
// shows that it has more to compute.
// Beside other programs the same work takes processes of one job up to half as long again, throughout a run:
// where their memory lies, what others take of caches, memory and a core's other thread. In the next run it
// is another rank.
bool may_be_a_slow_process(const FindingContext& context, const StepTable& steps, const RankLateness& late) {
  const std::int64_t waited = std::max<std::int64_t>(0, run_queue_excess(steps, late.rank).value_or(0));
  return context.on_cpu && late.cause == Cause::compute && late.cause_ns - waited < late.others_ns &&
         !ran_twice_as_long(steps, late.rank) && run_others_on_cores(context, steps, late.rank) &&
         !has_fewer_cores(context.diagnosis.job, late.rank) && !has_own_evidence(context, steps, late) &&
         !has_slower_layers(context.report, late.rank);
}

// Of ranks that share a GPU, who makes the others wait is the GPU's choice in part.
void mark_sharers(const FindingContext& context, LatenessReport& lateness) {
  const auto least = static_cast<std::int64_t>(kLeastLateness * static_cast<double>(lateness.step_ns));
  if (!lateness.can_tell || (lateness.waiting_ns < least && context.report.pipeline.empty())) return;
  for (const std::vector<const RankTrace*>& sharers : ranks_that_share_gpus(context.diagnosis.job)) {
    for (const RankTrace* sharer : sharers)
      for (RankLateness& rank : lateness.ranks)
        if (rank.rank == sharer->rank && !rank.not_accused_because)
          rank.not_accused_because = NotAccused::gpu_shared;
  }
}

// What makes it late may be waiting for a core that is short: not where it hardly waits longer than the
// others.
bool may_lack_cores(const FindingContext& context, const RankLateness& rank) {
  constexpr std::int64_t kPart = 4;
  if (shortage_of(context.shortages, rank.rank) == nullptr) return false;
  const std::optional<std::int64_t> waited = run_queue_excess(context.steps, rank.rank);
  return !waited || *waited * kPart >= rank.mean_ns;
}

// Nobody is late for certain: of whom it is open.
void mark_open(const FindingContext& context, LatenessReport& lateness) {
  const std::optional<UnsettledLateness> unsettled = unsettled_lateness(lateness);
  for (RankLateness& rank : lateness.ranks) {
    const bool is_unsettled = unsettled && unsettled->rank == &rank;
    // In the mean it is late by what matters, and a rank without cores moves about by more.
    if ((is_unsettled || rank.share >= kLeastLateness) && may_lack_cores(context, rank)) {
      rank.not_accused_because = NotAccused::cores_shared;
    } else if (is_unsettled) {
      rank.not_accused_because =
          unsettled->within_clock_error ? NotAccused::clock_error : NotAccused::unsteady;
    }
  }
  mark_sharers(context, lateness);
}

std::optional<bool> is_persistent(const LatenessReport& lateness, const BlameReport& blame) {
  if (blame.partial) return std::nullopt;
  for (const RankLateness& late : lateness.ranks) {
    if (late.rank != blame.rank) continue;
    if (!late.accused_by.empty()) return true;
    const bool is_open = late.not_accused_because == NotAccused::cores_shared ||
                         late.not_accused_because == NotAccused::cores_unknown ||
                         late.not_accused_because == NotAccused::gpu_shared ||
                         late.not_accused_because == NotAccused::unsteady ||
                         late.not_accused_because == NotAccused::clock_error;
    return lateness.can_tell && !is_open ? std::optional(late.is_late) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<BlameReport> blame_worth_accusing(const FindingContext& context, std::int32_t rank) {
  const BlameReport* const found = blame_of(context.report, rank);
  if (found == nullptr) return std::nullopt;
  BlameReport blame = *found;
  context.scheduled.take_from(blame);
  // Where a rank without a record takes part, that one may have come later.
  return !blame.partial && context.is_worth(blame.exposed_ns, kWorthPermille) ? std::optional(blame)
                                                                              : std::nullopt;
}

bool all_have_windows(const Report& report) {
  return std::all_of(report.ranks.begin(), report.ranks.end(), [](const RankReport& rank) {
    return rank.measures.known && rank.measures.window_ns > 0;
  });
}

std::int64_t lost_by_others(const FindingContext& context, const BlameReport& blame) {
  if (context.all_windows_ns <= 0 || all_have_windows(context.report)) return blame.exposed_ns;
  std::int64_t waited = 0;
  for (const RankReport& rank : context.report.ranks) {
    if (rank.rank == blame.rank || !rank.measures.known) continue;
    const Partition& causes = rank.measures.partition;
    waited = saturating_add(waited, causes[Cause::barrier_wait] + causes[Cause::pipeline_bubble]);
  }
  return std::min(blame.exposed_ns, waited);
}

// Where cores do not suffice, who gets less of them is the scheduler's choice: the host is at fault, said
// once. Not so of a rank that may use fewer cores than the others, and of what it does longer while it has
// one.
std::optional<NotAccused> for_want_of_cores(const FindingContext& context, const StepTable& steps,
                                            const RankLateness& late) {
  constexpr std::int64_t kPart = 4, kHalf = 2;
  if (lacks_a_core_alone(context, steps, late)) return NotAccused::cores_shared;
  if (are_cores_unknown(context, late.rank) && !computes_steadily(steps, late.rank) &&
      !has_own_evidence(context, steps, late))
    return NotAccused::cores_unknown;
  const bool are_short = shortage_of(context.shortages, late.rank) != nullptr;
  const NotAccused reason = are_short ? NotAccused::cores_shared : NotAccused::cores_unknown;
  // Where computations run on cores, so do transfers, on threads that nobody looks at.
  if (context.on_cpu && late.cause == Cause::transfer && are_short) return reason;
  const std::int64_t held = context.on_cpu ? slower_on_host_cores(context.report, steps, late.rank) : 0;
  if (late.cause.value_or(Cause::transfer) == Cause::transfer && held > 0 &&
      kHalf * held >= (late.cause ? late.cause_ns : late.mean_ns))
    return reason;
  const std::optional<std::int64_t> waited = run_queue_excess(steps, late.rank);
  const bool may_be_cores = are_short && (!waited || *waited * kPart >= late.mean_ns - held) &&
                            !has_fewer_cores(context.diagnosis.job, late.rank) &&
                            !is_own_doing(context, steps, late);
  if (may_be_cores) return reason;
  return may_be_a_slow_process(context, steps, late) ? std::optional(NotAccused::cores_unknown)
                                                     : std::nullopt;
}

bool waits_for_a_shared_core(const FindingContext& context, const StepTable& steps,
                             const RankLateness& late) {
  const Job& job = context.diagnosis.job;
  return shares_cores(job, late.rank) && !has_fewer_cores(job, late.rank) &&
         reason_of(context, steps, late).code == kWaitsForCore;
}

bool lacks_a_core_alone(const FindingContext& context, const StepTable& steps, const RankLateness& late) {
  return shortage_of(context.shortages, late.rank) == nullptr &&
         waits_for_a_shared_core(context, steps, late);
}

std::optional<RankLateness> late_by_one_cause(const FindingContext& context, LateByCause& by_cause,
                                              std::size_t rank) {
  const RankLateness& judged = context.report.lateness.ranks[rank];
  std::optional<RankLateness> late = by_cause.find(rank, judged);
  if (!late && has_fewer_cores(context.diagnosis.job, judged.rank))
    late = by_cause.find_waiting_for_core(rank, judged);
  if (!late) late = by_cause.find_running(rank, judged);
  if (late && late->cause == Cause::host_bound && context.steps.is_limited()) {
    // What a host launches later than another costs nothing unless it is slow; and then no more than the rank
    // is late by: its device idles also while the others' hosts are no faster (host_pace.h).
    if (!context.steps.has_slow_host(rank)) return std::nullopt;
    if (judged.mean_ns < late->mean_ns) {
      late->mean_ns = late->cause_ns = judged.mean_ns;
      late->share = judged.share;
    }
  }
  return late;
}

bool may_be_its_stages_work(const FindingContext& context, std::string_view reason,
                            const RankLateness& late) {
  const bool is_longer = reason == kComputesLonger;
  if (!is_longer && reason != "unknown" && reason != "more_work" && reason != "other_kernels") return false;
  const bool is_slow = is_longer && has_slower_layers(context.report, late.rank);
  return (has_heaviest_stage(context, late.rank) && !is_slow) || is_late_as_its_stage(context, late);
}

bool is_about_lateness(const Finding& finding) {
  return finding.rank && finding.cause == Cause::barrier_wait &&
         (finding.accuses == Accused::rank || finding.accuses == Accused::link);
}

void settle_lateness(const FindingContext& context, const std::vector<Finding>& findings, Report& report) {
  LatenessReport lateness = report.lateness;
  bool any = false;
  LateByCause by_cause(context.steps);
  for (std::size_t index = 0; index < lateness.ranks.size(); ++index) {
    RankLateness& rank = lateness.ranks[index];
    const Finding* const accusing = accusing_finding(findings, rank);
    rank.accused_by = accusing == nullptr ? "" : accusing->code;
    if (accusing != nullptr) {
      // Not late throughout by how late it is ready: it is accused for one thing that it does longer.
      if (!rank.is_late && accusing->topic == Topic::late_throughout) {
        if (const auto late = late_by_one_cause(context, by_cause, index)) {
          rank.cause = late->cause;
          rank.cause_ns = late->cause_ns;
          rank.others_ns = late->others_ns;
        }
      }
      rank.is_late = true;
    } else if (rank.is_late) {
      rank.not_accused_because = why_not(context, rank);
    }
    any = any || rank.is_late;
  }
  if (!any) mark_open(context, lateness);
  // The context reads the report: what it says of the ranks stays until here.
  report.lateness = std::move(lateness);
  for (BlameReport& blame : report.blame) blame.persistent = is_persistent(report.lateness, blame);
}

}  // namespace lockstep::analyzer
