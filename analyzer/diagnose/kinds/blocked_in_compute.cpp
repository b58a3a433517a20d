// Ranks on CPUs that sleep or are blocked in the middle of a computation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/host_shortage.h"
#include "analyzer/diagnose/idle_gaps.h"
#include "analyzer/diagnose/slow_place_words.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/report/quantity.h"
#include "analyzer/stacks/slow_place.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kBlockedInComputeRemedies = std::to_array<Remedy>(
    {{"the program",
      "no sleeping, locks, files or network reads in forward and backward; load and log on a thread beside"},
     {"the program",
      "a thread beside that computes in Python keeps the interpreter's lock from training: let a process do it"},
     {"Lockstep",
      "NVTX ranges around what the model does (docs/instrumentation.md) show in which of them it is"},
     {"Lockstep", "`lockstep record` names the line of Python (`--stacks 20`, its default)"},
     {"the machine", "memory that is swapped blocks as well"}});
constexpr Explanation kBlockedInComputeExplained{
    .meaning =
        "Inside forward, backward or the optimizer no thread of the rank ran, and none wanted a core: they "
        "slept, or waited for a lock, a file, or the network.",
    .found =
        "On CPUs, `off_cpu_ns` without what lies in ranges of checkpoints, evaluation and compilation reaches "
        "2 % of all ranks' time. It is named as one rank's where that one has "
        "four fifths of it, and most of all ranks in four of five steps. On a host with too few cores "
        "(cores_shared) it has to reach 5 %, and a rank is named only by a line of Python that it is longer "
        "in than the others, and for a tenth of its time: a thread that has no core may keep the others "
        "waiting. Where none is named so and one rank has nine tenths of it, the title says which one that is, "
        "which does not say that it is at fault.",
    .wrong =
        "The work was done by threads that Lockstep does not count to the rank's (a pool of another process, "
        "a device that no lane names).",
    .lost = "all of it",
    .remedies = kBlockedInComputeRemedies,
};
constexpr FindingKind kBlocked{
    .code = "blocked_in_compute",
    .title = "ranks sleep or are blocked in the middle of their computation",
    .cause = Cause::host_bound,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kBlockedInComputeExplained,
};
constexpr auto kBlockedInComputeKinds = std::to_array<const FindingKind*>({&kBlocked});

constexpr std::int64_t kPermille = 20;
constexpr std::int64_t kPermilleOfShared = 50;  // on a host with too few cores
constexpr std::int64_t kOfWindow = 10;          // there a rank is named for a tenth of its time

// How long ranks slept or were blocked in what they compute to train: what they save, evaluate or compile has
// findings of its own.
class SleepInTraining {
 public:
  explicit SleepInTraining(const FindingContext& context) : origin_(context.report.origin_aligned_ns) {
    const Job& job = context.diagnosis.job;
    for (const RankTrace& rank : job.ranks) {
      std::vector<Interval> off;
      for (const TimeSpan& span : rank.off_cpu) off.push_back({span.begin, span.end});
      Times times{IntervalSet::from(std::move(off)), {}};
      if (!times.off.empty()) {
        const IntervalSet beside = evaluation_and_the_like(rank, job.strings);
        if (!beside.empty())
          times.beside =
              intersect(intersect(times.off, beside), gaps_of(rank, context.report, Cause::host_bound));
        times.off = subtract(times.off, beside);
      }
      of_.emplace(rank.rank, std::move(times));
    }
  }

  std::int64_t of(const RankReport& rank) const {
    if (!rank.measures.known) return 0;
    const std::int64_t off = rank.measures.off_cpu_ns.value_or(0);
    const auto times = of_.find(rank.rank);
    return times == of_.end() ? off : std::max<std::int64_t>(0, off - times->second.beside.measure());
  }
  std::int64_t of(const StepReport& step) const {
    const std::int64_t off = step.measures.off_cpu_ns.value_or(0);
    const auto times = of_.find(step.rank);
    if (times == of_.end() || off == 0) return off;
    return std::max<std::int64_t>(
        0, off - times->second.beside.measure_within(origin_ + step.begin_ns, origin_ + step.end_ns));
  }
  // By rank, as Job::ranks.
  std::vector<IntervalSet> times(const Job& job) const {
    std::vector<IntervalSet> all;
    all.reserve(job.ranks.size());
    for (const RankTrace& rank : job.ranks) all.push_back(of_.at(rank.rank).off);
    return all;
  }

 private:
  struct Times {
    IntervalSet off;     // in training
    IntervalSet beside;  // not in training, and part of what was measured
  };
  Nanoseconds origin_;
  std::map<std::int32_t, Times> of_;  // by rank
};

// A single long pause, and pauses that hit now this rank, now that one, are nobody's.
bool is_steps_own(const FindingContext& context, const SleepInTraining& asleep, std::int32_t rank) {
  const StepTable& table = context.steps;
  if (!context.report.lateness.can_tell) return false;
  std::size_t longer = 0;
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    std::int64_t own = 0, others = 0;
    for (std::size_t one = 0; one < table.rank_count(); ++one) {
      const std::int64_t off = asleep.of(table.cell(step, one));
      if (table.ranks[one] == rank)
        own = off;
      else
        others = std::max(others, off);
    }
    longer += own > others ? 1 : 0;
  }
  return longer * 5 >= table.steps.size() * 4;
}

std::string what_to_do_in(const std::string& place) {
  return fmt::format(
      "look at what is done in `{}`: time.sleep, locks (the interpreter's too, which other Python threads hold), files and network reads",
      place);
}

// Where several ranks do it: the line that they are mostly seen at then.
void add_common_line(const Job& job, const SleepInTraining& asleep, Finding& finding) {
  const std::optional<CommonPlace> place = most_common_place(job, asleep.times(job));
  if (!place) return;
  finding.evidence.push_back(fmt::format("{} of {} at their Python stacks in that time saw them in `{}`",
                                         format_count(place->looks), format_plural(place->all_looks, "look"),
                                         place->place));
  finding.remedy = what_to_do_in(place->place);
}

// The line of Python at which a rank that sleeps so long in all is seen longer than the others.
std::optional<SlowPlace> where_it_stood(const FindingContext& context, std::int32_t rank,
                                        std::int64_t off_ns) {
  const auto steps = static_cast<std::int64_t>(context.steps.steps.size());
  if (steps == 0) return std::nullopt;
  return compare_places(context.diagnosis.job,
                        {rank, context.steps.ranks, context.steps.steps, off_ns / steps})
      .slow;
}

// The step in which a rank does so for longest.
std::optional<FindingPlace> worst_step_of(const Report& report, const SleepInTraining& asleep,
                                          std::int32_t rank) {
  const StepReport* worst = nullptr;
  for (const StepReport& step : report.steps)
    if (step.rank == rank && step.measures.known &&
        asleep.of(step) > (worst == nullptr ? 0 : asleep.of(*worst)))
      worst = &step;
  if (worst == nullptr) return std::nullopt;
  return FindingPlace{rank, worst->step, std::nullopt, worst->begin_ns, worst->end_ns};
}

void find_blocked(const FindingContext& context, std::vector<Finding>& findings) {
  const std::vector<RankReport>& ranks = context.report.ranks;
  const auto is_known = [](const RankReport& rank) { return rank.measures.off_cpu_ns.value_or(0) > 0; };
  if (std::none_of(ranks.begin(), ranks.end(), is_known)) return;
  const SleepInTraining asleep(context);
  const auto off = [&asleep](const RankReport& rank) { return asleep.of(rank); };
  std::int64_t lost = 0;
  for (const RankReport& rank : ranks) lost += off(rank);
  if (lost == 0 || !context.is_worth(lost, kPermille)) return;
  const RankReport& most = *std::max_element(
      ranks.begin(), ranks.end(), [&](const RankReport& a, const RankReport& b) { return off(a) < off(b); });
  Finding finding = kBlocked.make();
  if (context.report.world_size == 1)
    finding.title = "the rank sleeps or is blocked in the middle of its computation";
  finding.place = worst_step_of(context.report, asleep, most.rank);
  const bool is_one = ranks.size() > 1 && off(most) >= lost - lost / 5;
  for (const Finding& said : findings)  // of that rank already, by how late it is
    if (is_one && said.reason == "blocked" && said.rank == most.rank) return;
  // Where cores do not suffice, what its threads wait for may be a thread of another kind that has none.
  const std::vector<HostShortage> shortages = find_host_shortages(context.diagnosis.job, context.report);
  const bool short_of_cores = shortage_of(shortages, most.rank) != nullptr;
  if (short_of_cores && !context.is_worth(lost, kPermilleOfShared)) return;
  // Where it stood is a fact, be it accused or not.
  const std::optional<SlowPlace> place =
      is_one ? where_it_stood(context, most.rank, off(most)) : std::nullopt;
  const bool is_its_line = place && kOfWindow * off(most) >= most.measures.window_ns;
  const bool is_named =
      is_one && (!short_of_cores || is_its_line) && is_steps_own(context, asleep, most.rank);
  const bool is_nearly_all_of_one = is_one && off(most) >= lost - lost / 10;
  if (is_named || is_nearly_all_of_one) {
    finding.title = fmt::format("rank {} sleeps or is blocked in the middle of its computation", most.rank);
    finding.rank = most.rank;
  }
  if (is_named) {
    if (place) finding.title += fmt::format(", in `{}`", place->place);
    finding.accuses = Accused::rank;
  }
  finding.evidence = {fmt::format(
      "not on a core: none of its training threads ran or wanted to for {} on rank {}, {} of its time",
      format_duration(off(most)), most.rank, format_share(off(most), most.measures.window_ns))};
  finding.remedy =
      "look in forward and backward for time.sleep, locks (the interpreter's too, which other Python threads hold), files and network reads; " +
      how_to_name_it(context.diagnosis.job) + "; NVTX ranges show it in the timeline";
  if (place) {
    finding.evidence.push_back(describe_looks(*place, fmt::format("rank {}'s", most.rank)));
    finding.remedy = what_to_do_in(place->place);
  }
  if (!is_one) add_common_line(context.diagnosis.job, asleep, finding);
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::blocked_in_compute{kBlockedInComputeKinds, find_blocked};

}  // namespace lockstep::analyzer
