// Ranks of a host that wait for a core: there are too few for all who want one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/accusation.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hang_words.h"
#include "analyzer/diagnose/host_shortage.h"
#include "analyzer/diagnose/late_words.h"
#include "analyzer/diagnose/own_doing.h"
#include "analyzer/lateness/core_waits.h"
#include "analyzer/lateness/late_since.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kCoresSharedRemedies = std::to_array<Remedy>(
    {{"the machine", "fewer ranks a host, more cores for them, or other programs elsewhere"},
     {"the program",
      "OMP_NUM_THREADS (torch.set_num_threads) = cores / ranks of the host; fewer workers of data loaders"},
     {"the launcher", "`taskset`, `numactl`, Slurm's --cpus-per-task: cores of its own for each rank"}});
constexpr Explanation kCoresSharedExplained{
    .meaning =
        "The threads that train are ready to run and have no core, because ranks of the host, or other "
        "programs, have them all. Who of them is late is then mostly the scheduler's "
        "choice: a rank is named beside it only for what is left when its waiting for a core is taken out.",
    .found =
        "Of the ranks of one host whose allowed cores overlap, the training threads of the median one (the "
        "lower of two in the middle) wait for a core for 3 % of its steps' time at least (`run_queue_ns`). "
        "It is the ranks' own doing where all of them together want (on a core, or waiting for one, over "
        "time) more cores than they may use (by affinity, or by the control group's limit), by a twentieth, "
        "and get three quarters of these at least; else other programs have them, or threads of the ranks "
        "that do not train (data loaders, a thread of the program); both, where the ranks are more than the cores. So they have where one rank is late "
        "(straggler_persistent, straggler_since) because it waits for a core, may use the cores of another "
        "rank of its host and no fewer, and the median rank hardly waits. That a rank has more to do is said "
        "where there are steps enough to judge who is late, and its threads run twice as long as the others', longer by a "
        "twentieth of its steps' time, and longer than any other's in four of five steps.",
    .wrong =
        "The ranks wait as long alone on the host, with as many threads as cores: then a limit of the "
        "control group throttles them (cpu.max).",
    .lost =
        "all ranks' waiting for a core in their steps (`run_queue_ns`), of each rank that of the thread that "
        "waits longest, and nothing of a rank that has no steps while others have; where one rank waits, the "
        "others' exposed waits for it and what it waits for a core longer",
    .remedies = kCoresSharedRemedies,
};
constexpr FindingKind kCoresShared{
    .code = "cores_shared",
    .title = "ranks wait for a core of their host",
    .accuses = Accused::host,
    .picture = "core_waits",
    .topic = Topic::short_cores,
    .explanation = &kCoresSharedExplained,
};
constexpr auto kCoresSharedKinds = std::to_array<const FindingKind*>({&kCoresShared});

// "2", "1.5".
std::string number(double cores) {
  return cores == std::round(cores) ? fmt::format("{:.0f}", cores) : fmt::format("{:.1f}", cores);
}

std::string cores_of(double cores) {
  return cores == 1 ? "1 core" : number(cores) + " cores";
}

constexpr const char* kKeepOthersOff =
    "see what else runs there (`top`; data loaders' workers count too), and keep it off these cores: "
    "`taskset`, Slurm's --exclusive";

constexpr const char* kWhoIsTheSchedulersChoice =
    "other ranks of the host may use the same cores and hardly wait for one: who has to is the scheduler's choice, "
    "and may be another rank in the next run";

std::string remedy_for(const HostShortage& shortage) {
  const auto ranks = static_cast<double>(shortage.ranks.size());
  if (shortage.by_others() && !shortage.by_ranks_too()) return kKeepOthersOff;
  if (shortage.cores >= ranks)
    return fmt::format("OMP_NUM_THREADS={:.0f} (cores / ranks), or fewer ranks on this host",
                       std::floor(shortage.cores / ranks));
  return fmt::format(
      "more cores for them, where the host has some (`taskset -cp PID` says which a process may use; "
      "cgroups, Slurm's --cpus-per-task); else at most {} on this host, with OMP_NUM_THREADS=1{}",
      format_plural(std::max<std::int64_t>(1, static_cast<std::int64_t>(shortage.cores)), "rank"),
      shortage.by_others() ? fmt::format(". And {}", kKeepOthersOff) : "");
}

bool is_short(const HostShortage& shortage, std::int32_t rank) {
  return std::binary_search(shortage.ranks.begin(), shortage.ranks.end(), rank);
}

std::string say_who_runs_longer(const FindingContext& context, const HostShortage& shortage) {
  const std::optional<RunsLonger> longer = who_runs_longer(context, shortage);
  if (!longer) return "";
  return fmt::format(
      "rank {}'s training threads ran for {}, those of the others for {} in the median: "
      "it has more to do, whoever else wants the cores",
      longer->rank, format_duration(longer->ran_ns), format_duration(longer->others_ran_ns));
}

// Of the ranks that are short of cores those whose waiting is in no loss: there is no window for it.
std::string say_who_is_not_counted(const Report& report, const HostShortage& shortage) {
  std::int64_t without_steps = 0, with_holes = 0;
  for (const RankReport& rank : report.ranks) {
    if (!is_short(shortage, rank.rank)) continue;
    if (!rank.measures.known)
      ++with_holes;
    else if (rank.measures.window_ns <= 0)
      ++without_steps;
  }
  if (without_steps > 0)
    return without_steps == 1 ? "1 of them has no steps: what it waits is not counted as lost"
                              : fmt::format("{} of them have no steps: what they wait is not counted as lost",
                                            without_steps);
  if (with_holes == 0) return "";
  return with_holes == 1
             ? "part of the record of 1 of them is lost: what it waits is not counted as lost"
             : fmt::format("part of the records of {} of them is lost: what they wait is not counted as lost",
                           with_holes);
}

bool all_have_steps(const Report& report, const HostShortage& shortage) {
  return std::all_of(shortage.ranks.begin(), shortage.ranks.end(), [&report](std::int32_t rank) {
    return std::any_of(report.steps.begin(), report.steps.end(),
                       [rank](const StepReport& step) { return step.rank == rank; });
  });
}

// A rank that may use fewer cores than all others of its host.
std::string say_who_has_fewer_cores(const Job& job, const HostShortage& shortage) {
  for (const RankTrace& trace : job.ranks) {
    if (!is_short(shortage, trace.rank) || !has_fewer_cores(job, trace.rank)) continue;
    return fmt::format(
        "rank {} may use {} alone, fewer than the others: see what pinned it (taskset, "
        "sched_setaffinity, the launcher)",
        trace.rank, cores_of(static_cast<double>(count_cores(trace.core_set))));
  }
  return "";
}

// The rank, late in these steps, waits for a core that the others may use as well, and these hardly do.
void find_one_without_core(const FindingContext& context, const StepTable& steps, const RankLateness& late,
                           const LatenessReport& lateness, const std::string& begins,
                           std::vector<Finding>& findings) {
  const std::optional<BlameReport> blame = blame_worth_accusing(context, late.rank);
  if (!blame || !lacks_a_core_alone(context, steps, late)) return;
  const std::int64_t waited = std::max<std::int64_t>(0, core_wait_excess(steps, late).value_or(0));
  const std::int64_t own_ns = waited * static_cast<std::int64_t>(steps.steps.size());
  Finding finding = kCoresShared.make();
  finding.has_core_waits = true;
  finding.rank = late.rank;
  finding.title = fmt::format(
      "{}another program or thread has a core: rank {} waits {} longer for one, and the others for rank {} ({} of "
      "each step)",
      begins, late.rank, format_duration(waited), late.rank, format_share(late.share));
  const std::int64_t of_the_others = lost_by_others(context, *blame);
  finding.lost_ns = saturating_add(of_the_others, own_ns);
  finding.evidence = {
      describe_lateness(lateness, late),
      fmt::format("its training threads were ready to run and had no core for {} a step more than "
                  "the median of the others",
                  format_duration(waited)),
      kWhoIsTheSchedulersChoice, describe_waiting(context.report, *blame, context.scheduled),
      describe_loss(finding.lost_ns, of_the_others, own_ns)};
  if (of_the_others < blame->exposed_ns) finding.evidence.emplace_back(kOnlyKnownSteps);
  finding.remedy = fmt::format("{}; or cores of its own for each rank", kKeepOthersOff);
  findings.push_back(std::move(finding));
}

void find_ranks_without_core(const FindingContext& context, std::vector<Finding>& findings) {
  const LatenessReport& lateness = context.report.lateness;
  std::set<std::int32_t> named;
  for (const LateSince& since : late_since(context.steps, context.report)) {
    if (named.insert(since.late.rank).second)
      find_one_without_core(context, since.steps, since.late, since.since,
                            fmt::format("from step {} on ", since.step), findings);
  }
  for (const RankLateness& late : lateness.ranks)
    if (late.is_late && !named.contains(late.rank))
      find_one_without_core(context, context.steps, late, lateness, "", findings);
}

// "rank 1", "ranks 0, 2", "8 ranks": by number where it is one, or other ranks of the host may use other
// cores.
std::string who(const FindingContext& context, const HostShortage& shortage) {
  const auto of_this_host = std::ranges::count(context.shortages, shortage.host, &HostShortage::host);
  return shortage.ranks.size() == 1 || of_this_host > 1
             ? hang::named(shortage.ranks)
             : format_plural(static_cast<std::int64_t>(shortage.ranks.size()), "rank");
}

std::string whose_share(const HostShortage& shortage) {
  if (shortage.ranks.size() == 1) return "";
  if (shortage.busy > 2) return "on the median rank ";
  // Of two the one that waits for a core less; the others hardly run, where there are others.
  const bool are_two = shortage.busy == 2 && shortage.ranks.size() == 2;
  return fmt::format("on rank {}{} ", shortage.share_of,
                     are_two ? ", which of the two waits less for cores," : "");
}

void find_cores_shared(const FindingContext& context, std::vector<Finding>& findings) {
  for (const HostShortage& shortage : context.shortages) {
    const auto count = static_cast<std::int64_t>(shortage.ranks.size());
    const std::string where = shortage.host.empty() ? "" : fmt::format(" of {}", shortage.host);
    Finding finding = kCoresShared.make();
    finding.has_core_waits = true;
    if (shortage.by_others() && shortage.by_ranks_too()) {
      finding.title = fmt::format("{}{} share {} with other programs or threads", who(context, shortage),
                                  where, cores_of(shortage.cores));
    } else if (shortage.by_others()) {
      finding.title =
          fmt::format("{}{} {} for {} that other programs or threads have", who(context, shortage), where,
                      count == 1 ? "waits" : "wait", count == 1 ? "a core" : "cores");
    } else {
      finding.title = fmt::format("{}{} {} {}", who(context, shortage), where,
                                  count == 1 ? "has too few cores:" : "share", cores_of(shortage.cores));
    }
    finding.evidence = {
        fmt::format("{}a training thread is ready and waits for a core for {} of {} time",
                    whose_share(shortage),
                    format_share(static_cast<std::int64_t>(shortage.share * 1000), 1000),
                    all_have_steps(context.report, shortage) ? "the steps'" : "its"),
        fmt::format(
            "{} training threads want {:.1f} cores on average, and get {:.1f} of the {} that {} may use",
            count == 1 ? "its" : "together their", shortage.wanted, shortage.got, number(shortage.cores),
            count == 1 ? "it" : "they")};
    // For that reason, or for what another finding names.
    const LatenessReport& lateness = context.report.lateness;
    if (lateness.can_tell && lateness.waiting_ns * 50 >= lateness.step_ns &&
        shortage.ranks.size() == lateness.ranks.size())
      finding.evidence.push_back(fmt::format("the ranks wait for each other for {} of each step",
                                             format_share(lateness.waiting_ns, lateness.step_ns)));
    if (std::string fewer = say_who_has_fewer_cores(context.diagnosis.job, shortage); !fewer.empty())
      finding.evidence.push_back(std::move(fewer));
    if (std::string more = say_who_runs_longer(context, shortage); !more.empty())
      finding.evidence.push_back(std::move(more));
    if (std::string not_counted = say_who_is_not_counted(context.report, shortage); !not_counted.empty())
      finding.evidence.push_back(std::move(not_counted));
    finding.remedy = remedy_for(shortage);
    finding.lost_ns = shortage.waited_ns;
    findings.push_back(std::move(finding));
  }
  find_ranks_without_core(context, findings);
}

}  // namespace

const FindingRule rules::cores_shared{kCoresSharedKinds, find_cores_shared};

}  // namespace lockstep::analyzer
