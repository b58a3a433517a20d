// Devices idle because their next work has not been launched; on CPUs, ranks between their computations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/idle_gaps.h"
#include "analyzer/diagnose/idle_words.h"
#include "analyzer/diagnose/slow_place_words.h"
#include "analyzer/intervals/median.h"
#include "analyzer/metrics/windows.h"
#include "analyzer/model/warns_of.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kHostBoundRemedies = std::to_array<Remedy>(
    {{"PyTorch", "torch.compile(mode=\"reduce-overhead\"), CUDA graphs; fused optimizers (fused=True)"},
     {"the program",
      "no .item(), .cpu(), print(tensor) or torch.cuda.synchronize() in the step; larger batches"},
     {"the machine", "a core for each rank and its threads: numactl, OMP_NUM_THREADS"}});
constexpr Explanation kHostBoundExplained{
    .meaning = "The CPU is slower at launching kernels than the GPU at running them.",
    .found =
        "`host_bound` reaches 5 % of all time, nine tenths of the time of gaps end in a kernel whose launch "
        "is known, the profiler was not asked for what costs the host time (`profiler_overhead`), and the "
        "device is not the CPU.",
    .wrong =
        "The launching thread waits for something itself (a lock, the GIL, a copy) in the gaps: see its "
        "ranges.",
    .lost =
        "all of it, less what a late rank's host takes longer than the others'; and the waiting in "
        "collectives for hosts that launch a little later than others, where no host has time left that it "
        "could launch earlier in (docs/statistics.md). Where the latest rank shares its GPU, only as long as "
        "nothing of it was on the GPU or launched: the rest is `gpu_shared`",
    .remedies = kHostBoundRemedies,
};
constexpr FindingKind kHostBound{
    .code = "host_bound",
    .title = "devices idle because the host has not launched their next work yet",
    .cause = Cause::host_bound,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kHostBoundExplained,
};
constexpr auto kIdleBetweenComputationsRemedies = std::to_array<Remedy>(
    {{"Lockstep", "`lockstep record` names it by function, file and line (`--stacks 20`, its default)"},
     {"the program", "NVTX ranges around it (docs/instrumentation.md)"},
     {"the machine", "what else runs on these cores: `lockstep record --cpu`"}});
constexpr Explanation kIdleBetweenComputationsExplained{
    .meaning =
        "On the CPU the rank's own thread computes: what it does between computations is no launch that came "
        "late, but work without a name.",
    .found =
        "`host_bound`, less what the rank's training threads waited for a core in that time "
        "(`cores_shared`), reaches 5 % of all time, and the ranks compute on the CPU. A note where most "
        "looks at Python stacks saw a `forward` there and the threads ran for half of the time at least: "
        "that is a forward pass which nothing names (without gradients, of a model that no wrapper holds), "
        "so that it is not known as computation. One rank is named where looks at Python stacks saw it alone "
        "in a function there: three tenths of the looks at it in that time, nine at least, and twenty times "
        "as many as saw any other rank there at any time; it has more time between computations than the "
        "median of the others that have four fifths of its steps (of which there is one at least), and by the share of "
        "looks that function costs 1 % of all time. Where half of that time is garbage collection, on one rank, on most or of all ranks' together, that is said.",
    .wrong =
        "NVTX ranges of the program fill that time, or another process had the cores. Of one rank: it writes "
        "the log or the checkpoints by design.",
    .lost =
        "all of it, less what a late rank does longer than the others; where one rank is named, of what that one does alone",
    .remedies = kIdleBetweenComputationsRemedies,
};
constexpr FindingKind kIdleBetweenComputations{
    .code = "idle_between_computations",
    .title = "ranks do what the trace does not name between their computations",
    .cause = Cause::host_bound,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kIdleBetweenComputationsExplained,
};
constexpr auto kIdleWithoutLaunchesRemedies =
    std::to_array<Remedy>({{"torch.profiler", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
                           {"nsys", "--trace=cuda,nvtx; --cuda-graph-trace=node"},
                           {"Lockstep", "`lockstep record`, which always records launches"}});
constexpr Explanation kIdleWithoutLaunchesExplained{
    .meaning = "Without the launching calls nobody can tell a late host from a waiting stream.",
    .found =
        "`host_bound` reaches 5 % of all time on a GPU, and more than a tenth of the time of gaps ends in "
        "work whose launch is not known.",
    .wrong =
        "The trace holds the runtime's calls after all: in `lockstep export`, the activities behind the gaps "
        "have a `launch_begin_ns`.",
    .lost = "all of it",
    .remedies = kIdleWithoutLaunchesRemedies,
};
constexpr FindingKind kIdleWithoutLaunches{
    .code = "idle_without_launches",
    .title = "devices idle, and too few launches were recorded to say why",
    .cause = Cause::host_bound,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kIdleWithoutLaunchesExplained,
};
constexpr auto kSlowedByProfilerRemedies =
    std::to_array<Remedy>({{"torch.profiler", "with_stack=False, record_shapes=False, profile_memory=False"},
                           {"Lockstep", "`lockstep record`, whose cost is known (docs/benchmarks.md)"}});
constexpr Explanation kSlowedByProfilerExplained{
    .meaning =
        "Devices wait for launches, but the profile was taken with stacks, shapes or memory, which are "
        "written down on the launching thread. How much of the host's time is the profiler's own cannot be "
        "told: what the profiler says of itself (its events of category `overhead`, in the finding's evidence) leaves "
        "that out.",
    .found =
        "As `host_bound`, where a file says that it was recorded with with_stack, record_shapes, "
        "profile_memory, with_modules or with_flops (warning `profiler_overhead`). A note.",
    .wrong = "A recording without them shows the same gaps.",
    .lost = "all of it, as far as it is not the profiler's",
    .remedies = kSlowedByProfilerRemedies,
};
constexpr FindingKind kSlowedByProfiler{
    .code = "host_slowed_by_profiler",
    .title =
        "devices idle while the host launches, and how much of that is the profiler's own work can't be told",
    .severity = SeverityRule::note,
    .cause = Cause::host_bound,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kSlowedByProfilerExplained,
};
constexpr auto kHostBoundKinds = std::to_array<const FindingKind*>(
    {&kHostBound, &kIdleBetweenComputations, &kIdleWithoutLaunches, &kSlowedByProfiler});

// Of nine tenths of the gaps' time at least: then it can be told whether the host was late.
bool launches_are_known(const FindingContext& context) {
  std::int64_t gaps_ns = 0, without_launch_ns = 0;
  for (const RankTimeline::Gaps& rank : context.diagnosis.gaps) {
    gaps_ns = saturating_add(gaps_ns, rank.ns);
    without_launch_ns = saturating_add(without_launch_ns, rank.without_launch_ns);
  }
  return without_launch_ns <= gaps_ns / 10;
}

// Stacks and shapes are recorded on the thread that launches: how late the host is without them nobody knows.
bool profiler_costs_host_time(const FindingContext& context) {
  return warns_of(context.diagnosis.job.warnings, "profiler_overhead");
}

// What it tells of itself, whatever the judgement: of what it was asked to write down besides, this is no
// part.
void describe_profilers_own_time(const Job& job, std::vector<std::string>& evidence) {
  Nanoseconds own = 0;
  for (const RankTrace& rank : job.ranks) own = saturating_add(own, rank.profiler_ns);
  if (own > 0)
    evidence.push_back(fmt::format(
        "the profiler says that {} of all ranks' time was its own; what stacks and shapes cost on the "
        "launching thread is not counted there",
        format_duration(own)));
}

struct TimesBetweenComputations {
  std::vector<IntervalSet> gaps;       // by rank, without what the account has under names of its own
  std::vector<std::int64_t> named_ns;  // by rank: so much of that
};

// By rank.
std::vector<IntervalSet> host_bound_gaps(const FindingContext& context) {
  std::vector<IntervalSet> gaps;
  for (const RankTrace& rank : context.diagnosis.job.ranks)
    gaps.push_back(gaps_of(rank, context.report, Cause::host_bound));
  return gaps;
}

// Of steps that are looked at although it lies in them (--all-steps): imports, for one.
IntervalSet start_up_of(const RankTrace& rank, const StringTable& strings) {
  return unite(find_phases(rank, strings)[Phase::start_up],
               IntervalSet::from({start_of(rank, find_windows(rank))}));
}

TimesBetweenComputations times_between_computations(const FindingContext& context) {
  const Job& job = context.diagnosis.job;
  TimesBetweenComputations times{host_bound_gaps(context), std::vector<std::int64_t>(job.ranks.size())};
  // Looking for it costs a pass over all ranges.
  const Account& spent = context.report.account.spent;
  if (spent[Spending::evaluation] == 0 && spent[Spending::checkpoint] == 0 &&
      spent[Spending::compilation] == 0 && spent[Spending::start_up] == 0)
    return times;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const std::int64_t all = times.gaps[i].measure();
    times.gaps[i] = subtract(times.gaps[i], evaluation_and_the_like(job.ranks[i], job.strings));
    times.gaps[i] = subtract(times.gaps[i], start_up_of(job.ranks[i], job.strings));
    times.named_ns[i] = all - times.gaps[i].measure();
  }
  return times;
}

// What the host takes, of all ranks or of one, and what of that other findings and the account tell.
struct HostTime {
  std::int64_t all = 0;
  std::int64_t of_late_ranks = 0;
  std::int64_t named = 0;
  std::int64_t for_cores = 0;
  std::int64_t lost() const { return all - of_late_ranks - named - for_cores; }
};
HostTime host_time(std::int64_t all, std::int64_t of_late_ranks, std::int64_t named, std::int64_t for_cores) {
  HostTime time{all, std::min(all, of_late_ranks)};
  time.named = std::min(time.lost(), named);
  time.for_cores = std::min(time.lost(), for_cores);
  return time;
}

void describe_what_is_not_lost(const HostTime& time, std::vector<std::string>& evidence) {
  if (time.of_late_ranks > 0)
    evidence.push_back(fmt::format(
        "{} of that is what a late rank spends longer than the others, and is not counted as lost here",
        format_duration(time.of_late_ranks)));
  if (time.named > 0)
    evidence.push_back(fmt::format(
        "{} of that is start-up, evaluation, checkpoints or compilation, and is not counted as lost here",
        format_duration(time.named)));
  if (time.for_cores > 0)
    evidence.push_back(fmt::format("{} of that is waiting for a core, and is not counted as lost here",
                                   format_duration(time.for_cores)));
}

constexpr std::int64_t kOneRankPermille = 10;

// Where one rank is named, its time is what is lost, and not that of all. Returns how much it is, in words.
std::vector<std::string> count_that_rank_alone(const FindingContext& context,
                                               const std::vector<Finding>& findings,
                                               const TimesBetweenComputations& times, Finding& finding) {
  const std::int32_t number = *finding.rank;
  const Job& job = context.diagnosis.job;
  std::int64_t own = 0;
  std::vector<std::int64_t> others;
  for (const RankReport& rank : context.report.ranks) {
    const std::int64_t ns = rank.measures.partition[Cause::host_bound];
    if (rank.rank == number)
      own = ns;
    else if (rank.measures.known && rank.measures.window_ns > 0)
      others.push_back(ns);
  }
  std::vector<Finding> of_it;
  std::ranges::copy_if(findings, std::back_inserter(of_it),
                       [number](const Finding& other) { return other.rank == number; });
  HostTime time;
  for (std::size_t i = 0; i < job.ranks.size(); ++i)
    if (job.ranks[i].rank == number)
      time = host_time(own, context.said_of_late_ranks(of_it, Cause::host_bound), times.named_ns[i],
                       times_of_gaps(job.ranks[i], context.report, Cause::host_bound).without_core_ns);
  finding.lost_ns = time.lost();
  std::string spends = fmt::format("it spends {} between its computations", format_duration(own));
  if (!others.empty()) {
    const std::int64_t median = lower_median(std::move(others));
    spends += fmt::format(", the median of the others {}", format_duration(median));
    // Of a rank that is named as late the line may be all that it is longer by: the rest is as the others'.
    if (time.of_late_ranks > 0)
      finding.lost_ns =
          std::min(finding.lost_ns, std::max<std::int64_t>(0, own - median - time.of_late_ranks));
  }
  std::vector<std::string> evidence = {std::move(spends)};
  describe_what_is_not_lost(time, evidence);
  return evidence;
}

void find_host_bound(const FindingContext& context, std::vector<Finding>& findings) {
  const std::int64_t behind_hosts = context.on_cpu ? 0 : context.behind_hosts();
  // Costs a look at every gap: only where there may be something to say.
  const bool look = context.on_cpu && context.is_worth(context.total(Cause::host_bound), kLeftOverPermille);
  const ThreadsInGaps threads = look ? threads_in_gaps(context) : ThreadsInGaps{};
  const TimesBetweenComputations times =
      look ? times_between_computations(context) : TimesBetweenComputations{};
  std::int64_t named = 0;
  for (const std::int64_t ns : times.named_ns) named = saturating_add(named, ns);
  const HostTime time =
      host_time(context.total(Cause::host_bound), context.said_of_late_ranks(findings, Cause::host_bound),
                named, threads.without_core_ns);
  const std::int64_t lost = time.lost() + behind_hosts;
  if (!context.is_left_over(findings, Cause::host_bound, lost)) return;
  // On a CPU lane the host and the device are one: time between computations is not a launch that came late.
  const bool known = launches_are_known(context);
  const bool slowed = profiler_costs_host_time(context);
  Finding finding = context.all_of_its_cause(context.on_cpu ? kIdleBetweenComputations
                                             : !known       ? kIdleWithoutLaunches
                                             : slowed       ? kSlowedByProfiler
                                                            : kHostBound);
  finding.lost_ns = lost;
  if (time.lost() < time.all && finding.evidence.front().starts_with("most on "))
    finding.evidence.front() =
        fmt::format("{} in all, {}", format_duration(time.all), finding.evidence.front());
  // The partition's time is then but a part of what is lost.
  if (behind_hosts > 0)
    finding.evidence = {"host-bound time of the ranks themselves: " + context.evidence_of(Cause::host_bound)};
  describe_what_is_not_lost(time, finding.evidence);
  if (behind_hosts > 0)
    finding.evidence.push_back(fmt::format(
        "{} of what is lost is waiting in collectives for a host that launches later: the others' hosts need "
        "that time as well, and would be no faster without it",
        format_duration(behind_hosts)));
  if (context.on_cpu) {
    Finding named_finding = finding;
    named_finding.evidence.clear();
    named_finding.remedy =
        "see what that line does, and what it calls, outside of the computations that the trace knows: shorten it, "
        "or do it beside training. A forward pass of a model that no wrapper holds (a teacher's) is such a "
        "line, too, and part of the job's work";
    finding.remedy =
        how_to_name_it(context.diagnosis.job) +
        "; or put NVTX ranges around what the training loop does there (docs/instrumentation.md). "
        "See what else runs on these cores";
    if (name_what_ranks_do(context, times.gaps, threads, named_finding)) {
      const std::vector<std::string> amounts =
          named_finding.rank ? count_that_rank_alone(context, findings, times, named_finding)
                             : finding.evidence;
      named_finding.evidence.insert(named_finding.evidence.begin(), amounts.begin(), amounts.end());
      // Of one rank all but a little may be told elsewhere: it had no core, or evaluated.
      if (!named_finding.rank || context.is_worth(named_finding.lost_ns, kOneRankPermille))
        finding = std::move(named_finding);
    }
    if (slowed) {
      finding.evidence.emplace_back(
          "what the profiler itself costs there is a part of it, and not known (the warning `profiler_overhead`)");
      describe_profilers_own_time(context.diagnosis.job, finding.evidence);
    }
  } else if (known && slowed) {
    describe_profilers_own_time(context.diagnosis.job, finding.evidence);
    finding.remedy =
        "record again without what the warning `profiler_overhead` names, or with `lockstep record`: only "
        "then can be told what of it is the program's";
  } else if (known) {
    if (!say_all_collect_garbage(context, host_bound_gaps(context), finding))
      finding.remedy =
          "torch.compile(mode=\"reduce-overhead\") or CUDA graphs: fewer and earlier launches; remove .item(), "
          ".cpu() and torch.cuda.synchronize() from the step";
  } else {
    finding.remedy =
        "record the CUDA runtime's calls too: torch.profiler with activities CPU and CUDA, "
        "`nsys profile --trace=cuda,nvtx`";
  }
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::host_bound{kHostBoundKinds, find_host_bound};

}  // namespace lockstep::analyzer
