// Waiting that nobody is to blame for: ranks take turns.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/accusation.h"
#include "analyzer/diagnose/clock_remedy.h"
#include "analyzer/diagnose/early_ranks.h"
#include "analyzer/diagnose/early_words.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/garbage_collections.h"
#include "analyzer/diagnose/host_shortage.h"
#include "analyzer/diagnose/unjudged_ranks.h"
#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unsettled_lateness.h"
#include "base/number_lists.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// Of all time. Two ranks that take turns in being longer by 5 % of a step wait for 2.5 % of theirs, less what
// evens out.
constexpr std::int64_t kWorthPermille = 15;
// More steps than that nobody records to find out.
constexpr std::int64_t kMaxSteps = 100'000;
constexpr auto kJitterRemedies = std::to_array<Remedy>(
    {{"the machine",
      "nothing else on the cores of the ranks; clocks that do not move (`nvidia-smi -lgc`, the performance "
      "governor)"},
     {"the program", "gc.freeze(), or collecting on all ranks in the same step; batches of equal length"},
     {"PyTorch",
      "`no_sync()` over more accumulation steps: fewer meetings, between which jitter evens out"}});
constexpr Explanation kJitterExplained{
    .meaning =
        "Each step waits for whoever is last, and that is another rank each time: nobody is slow. What is "
        "lost is the difference between the slowest rank of each step and the others. Or a few ranks compute for "
        "less time in every step, and wait for all others.",
    .found =
        "The ranks' time in waiting for collectives, outside of compute, reaches 1.5 % of all; waiting for a "
        "pipeline's first stage or for ranks of which too few steps are known, and what `host_bound` and "
        "`gpu_shared` account for, is left out, and most of the waiting remains. What is "
        "known of late ranks or uneven batches explains less than half of it, there were enough steps to "
        "tell, and no rank is late beyond chance. Where it comes from: in each step the cause in which its "
        "latest rank exceeds the median of the others most. Where garbage collections of two ranks at least, "
        "in that step or the one before, make up half of what the steps' latest ranks are late by, that is "
        "said. Where one step holds half of the waiting, that is said instead; or where fewer than half of the ranks do "
        "two thirds of it, each in nine of ten steps for twice as long as the median, and compute for less time by half of that. "
        "A rank that is late beyond chance, "
        "and not for certain, is said to be: by how its lateness moves, or by no more than the clocks leave "
        "open. Where a finding names a rank that others wait for, or its link, what that counts is left out, and "
        "what is left has to reach 1.5 %, too.",
    .wrong = "A longer recording of the same job names the same rank again and again.",
    .lost = "all of that waiting, less what findings count that name a rank or its link",
    .remedies = kJitterRemedies,
};
constexpr FindingKind kJitter{
    .code = "jitter",
    .title = "ranks take turns in being late",
    .cause = Cause::barrier_wait,
    .accounts = Accounts::yes,
    .points_at = PointsAt::worst_operation,
    .picture = "cause",
    .topic = Topic::taking_turns,
    .explanation = &kJitterExplained,
};
constexpr auto kJitterKinds = std::to_array<const FindingKind*>({&kJitter});

// By cause: how much of the lateness of each step's latest rank it makes up, over all steps.
struct Sources {
  std::array<std::int64_t, kCauseCount> ns{};
  std::int64_t all_ns = 0;
  std::vector<std::size_t> latest_in;  // by rank: how many steps
};

std::size_t latest_in(const StepTable& table, std::size_t step) {
  std::size_t latest = 0;
  for (std::size_t rank = 1; rank < table.rank_count(); ++rank)
    if (table.late_by_waits(step, rank) > table.late_by_waits(step, latest)) latest = rank;
  return latest;
}

void add_step(const StepTable& table, std::size_t step, std::size_t latest, Sources& sources) {
  const std::array<std::int64_t, kCauseCount> excess = excess_by_cause(table, step, latest);
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    if (static_cast<Cause>(cause) == Cause::barrier_wait || excess[cause] <= 0) continue;
    sources.ns[cause] += excess[cause];
    sources.all_ns += excess[cause];
  }
}

Sources sources_of(const StepTable& table) {
  Sources sources;
  sources.latest_in.resize(table.rank_count());
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    const std::size_t latest = latest_in(table, step);
    ++sources.latest_in[latest];
    add_step(table, step, latest, sources);
  }
  return sources;
}

Cause greatest_of(const Sources& sources) {
  return static_cast<Cause>(std::max_element(sources.ns.begin(), sources.ns.end()) - sources.ns.begin());
}

// The step that holds half of all waiting or more, if there is one: no rank is late again and again then, and
// no jitter costs each step so much.
struct OneStep {
  std::size_t step = 0;    // index
  std::size_t latest = 0;  // rank, as index
  std::int64_t waiting_ns = 0, all_ns = 0;
};

std::optional<OneStep> one_step_of_waiting(const StepTable& table) {
  constexpr std::size_t kLeastSteps = 10;
  if (table.steps.size() < kLeastSteps) return std::nullopt;
  OneStep one;
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    std::int64_t waiting = 0;
    for (std::size_t rank = 0; rank < table.rank_count(); ++rank)
      waiting += table.cell(step, rank).measures.partition[Cause::barrier_wait];
    one.all_ns += waiting;
    if (waiting > one.waiting_ns) {
      one.step = step;
      one.latest = latest_in(table, step);
      one.waiting_ns = waiting;
    }
  }
  return 2 * one.waiting_ns >= one.all_ns && one.all_ns > 0 ? std::optional(one) : std::nullopt;
}

const char* doing(Cause cause, bool on_cpu) {
  switch (cause) {
    case Cause::compute:
      return "computes longer";
    case Cause::transfer:
      return "moves data longer";
    case Cause::data_wait:
      return "waits for data longer";
    case Cause::host_bound:
      return on_cpu ? "does something longer that the trace does not name" : "launches later";
    case Cause::copy:
      return "copies longer";
    case Cause::queued:
      return "starts launched work later";
    default:
      return "idles longer";
  }
}

// "compute 71 %, host-bound 20 %": what makes up a tenth or more.
std::string describe(const Sources& sources) {
  std::vector<std::pair<std::int64_t, Cause>> order;
  for (std::size_t cause = 0; cause < kCauseCount; ++cause)
    order.emplace_back(-sources.ns[cause], static_cast<Cause>(cause));
  std::sort(order.begin(), order.end());
  std::string text;
  for (const auto& [negative, cause] : order) {
    if (-negative * 10 < sources.all_ns || negative == 0) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", style_of(cause).label,
                        format_share(-negative, sources.all_ns));
  }
  return text;
}

std::string remedy_for(Cause most, bool on_cpu, bool on_one_host) {
  switch (most) {
    case Cause::compute:
      return on_cpu
                 ? "give each rank cores of its own (OMP_NUM_THREADS = cores / ranks of the host, "
                   "`taskset -c`); where batches differ in length, emit a counter `tokens` "
                   "(docs/instrumentation.md): then it can be told"
                 : "`lockstep record --cpu` beside clocks and throttling of a slow step; where batches "
                   "differ in length, emit a counter `tokens` (docs/instrumentation.md): then it can be told";
    case Cause::data_wait:
      return "DataLoader(num_workers=8, prefetch_factor=4, persistent_workers=True): batches ready before "
             "they are asked for";
    case Cause::host_bound:
      return on_cpu ? "put NVTX ranges around what the training loop does between computations "
                      "(docs/instrumentation.md)"
                    : "`gc.freeze()`, processes pinned to cores (`numactl`), fewer launches (CUDA graphs)";
    case Cause::transfer:
      return on_cpu && on_one_host
                 ? "within a host threads of the ranks move the data, and want cores as well: see what else runs "
                   "there (`top`); fewer and larger operations"
                 : "look at what else uses the links; fewer and larger operations";
    default:
      return "`lockstep analyze --steps N` of a slow and of a fast step, side by side";
  }
}

// "host-bound 98 %": where the latest rank of that step was longer than the others.
void describe_one_step(const FindingContext& context, const OneStep& one, Finding& finding) {
  const StepTable& table = context.steps;
  const std::int64_t number = table.steps[one.step];
  const std::int32_t rank = table.ranks[one.latest];
  finding.title = fmt::format("once, in step {}, the ranks waited for rank {}: {} of all that they wait",
                              number, rank, format_share(one.waiting_ns, one.all_ns));
  Sources sources;
  add_step(table, one.step, one.latest, sources);
  if (sources.all_ns > 0)
    finding.evidence.push_back(fmt::format("rank {} {} then: its time beyond the others' is {}", rank,
                                           doing(greatest_of(sources), context.on_cpu), describe(sources)));
  const auto others = static_cast<std::int64_t>(table.steps.size() - 1);
  finding.evidence.push_back(fmt::format("in each of the {} they wait for {} in all, on average",
                                         format_plural(others, "other step"),
                                         format_duration((one.all_ns - one.waiting_ns) / others)));
  finding.remedy = fmt::format(
      "see what rank {} did in step {} (`lockstep view`): once is no pattern; a record of more steps shows "
      "whether it comes again",
      rank, number);
}

// What the latest rank of a step does longer.
std::string describe_source(const Sources& sources, Cause most, bool on_cpu,
                            const std::optional<GarbageInTurn>& garbage) {
  if (garbage)
    return fmt::format(
        "garbage collection, on {}, is {} of the {} by which the latest ranks of the steps are late",
        format_plural(static_cast<std::int64_t>(garbage->ranks), "rank"), format_duration(garbage->ns),
        format_duration(garbage->late_ns));
  if (sources.all_ns <= 0) return "";
  return fmt::format("the latest rank of a step mostly {}: its time beyond the others' is {}",
                     doing(most, on_cpu), describe(sources));
}

// Ranks that findings name as late, or their links, and what these count of the waiting.
struct Named {
  std::vector<std::int32_t> ranks;  // ascending, each once
  std::int64_t lost_ns = 0;
};

Named named_as_late(const std::vector<Finding>& findings) {
  Named named;
  for (const Finding& finding : findings) {
    if (!is_about_lateness(finding)) continue;
    named.ranks.push_back(*finding.rank);
    named.lost_ns = saturating_add(named.lost_ns, finding.lost_ns);
  }
  std::sort(named.ranks.begin(), named.ranks.end());
  named.ranks.erase(std::unique(named.ranks.begin(), named.ranks.end()), named.ranks.end());
  return named;
}

// "beyond what rank 1 is named for, ranks wait for each other"
std::string beyond_named(const Named& named) {
  constexpr std::size_t kMaxNamed = 8;
  const bool one = named.ranks.size() == 1;
  return fmt::format("beyond what {} {} {} named for, ranks wait for each other", one ? "rank" : "ranks",
                     list_numbers(named.ranks, kMaxNamed), one ? "is" : "are");
}

void find_jitter(const FindingContext& context, std::vector<Finding>& findings) {
  const LatenessReport& lateness = context.report.lateness;
  const std::int64_t all = context.total(Cause::barrier_wait);
  // Waiting that is the schedule's, or that all hosts are slow (host_bound says so) or share a GPU
  // (gpu_shared), is not jitter's.
  const std::int64_t behind = context.behind_hosts() + context.behind_gpu(findings);
  const std::int64_t nobodys = all - behind - std::min(context.scheduled.in_collectives_ns(), all - behind);
  // Ranks of which too little is known may be late in every step: waiting for them is no jitter.
  const UnjudgedRanks unjudged = unjudged_ranks(context.report);
  const std::int64_t waited = nobodys - std::min(unjudged.waited_for_ns, nobodys);
  const bool late = std::any_of(lateness.ranks.begin(), lateness.ranks.end(),
                                [](const RankLateness& rank) { return rank.is_late; });
  if (!lateness.can_tell || late || !context.report.ranks_missing.empty() || unjudged.had_most_of(nobodys) ||
      !context.is_left_over(findings, Cause::barrier_wait, waited, false, kWorthPermille))
    return;
  // A finding that names a rank counts its part of the same waiting: what is left is nobody's.
  const Named named = named_as_late(findings);
  const bool is_rest = !named.ranks.empty();
  const std::int64_t lost = waited - std::min(named.lost_ns, waited);
  if (is_rest && !context.is_worth(lost, kWorthPermille)) return;
  // Where every rank shares cores with others, that is why they take turns: cores_shared says so.
  const std::vector<HostShortage> shortages = find_host_shortages(context.diagnosis.job, context.report);
  if (!shortages.empty() &&
      std::all_of(lateness.ranks.begin(), lateness.ranks.end(),
                  [&](const RankLateness& rank) { return shortage_of(shortages, rank.rank) != nullptr; }))
    return;
  // Or one of them waits for a core from some step on.
  if (std::any_of(findings.begin(), findings.end(),
                  [](const Finding& finding) { return finding.topic == Topic::short_cores && finding.rank; }))
    return;
  if (const std::optional<OneStep> one = one_step_of_waiting(context.steps)) {
    Finding finding = context.all_of_its_cause(kJitter);
    finding.lost_ns = lost;
    describe_one_step(context, *one, finding);
    findings.push_back(std::move(finding));
    return;
  }
  const Sources sources = sources_of(context.steps);
  const Cause most = greatest_of(sources);
  const auto [least_often, most_often] =
      std::minmax_element(sources.latest_in.begin(), sources.latest_in.end());
  Finding finding = context.all_of_its_cause(kJitter);
  finding.lost_ns = lost;
  const bool is_part = behind > 0 || is_rest || unjudged.waited_for_ns > 0;
  if (is_part)
    finding.evidence = {fmt::format("{} of {} of waiting", format_duration(lost), format_duration(all))};
  // One is late beyond chance, but not by enough of how its lateness moves: neither late for certain nor in
  // turn. Where a rank is named, somebody is to blame, and it can be told.
  std::optional<UnsettledLateness> open;
  if (!is_rest) open = unsettled_lateness(lateness);
  // Who is the latest in most steps, and not in all of the run, does not take turns. Of two ranks one always
  // is: in three of four steps rarely.
  const auto times = static_cast<std::int64_t>(*most_often);
  const bool in_turn =
      !open && !is_rest &&
      (context.steps.rank_count() == 2 ? 4 * times <= 3 * lateness.steps : 2 * times <= lateness.steps);
  const std::optional<EarlyRanks> early =
      open || is_rest || !context.report.pipeline.empty() ? std::nullopt : early_ranks(context.steps);
  // Who waits is known then, and nobody whom they wait for is later than the rest.
  if (early) {
    describe_early(context, *early, finding);
    findings.push_back(std::move(finding));
    return;
  }
  const std::optional<GarbageInTurn> garbage =
      open || is_rest ? std::nullopt : garbage_in_turn(context, context.steps);
  const bool is_always = times >= lateness.steps;  // one rank is the latest
  finding.title =
      fmt::format("{}: {} costs {} of each step",
                  is_rest   ? beyond_named(named)
                  : open    ? "ranks wait for each other, and whether one of them is to blame can't be told"
                  : garbage ? "ranks collect garbage at different times and wait for each other"
                  : in_turn ? "ranks take turns being late"
                            : "ranks wait for each other, and none is late throughout",
                  garbage || (open && is_always) ? "that" : "jitter",
                  is_part ? format_share(lost, context.all_windows_ns)
                          : format_share(lateness.waiting_ns, lateness.step_ns));
  const std::string most_of = format_share(static_cast<std::int64_t>(*most_often), lateness.steps);
  const std::int32_t latest =
      context.steps.ranks[static_cast<std::size_t>(most_often - sources.latest_in.begin())];
  std::string often =
      is_always ? fmt::format("in each of {} steps rank {} is the latest", lateness.steps, latest)
      : *least_often == 0 || !in_turn
          ? fmt::format("over {} steps the latest rank is rank {} most often, in {} of them", lateness.steps,
                        latest, most_of)
          : fmt::format("over {} steps each of {} ranks is the latest, in {} to {} of them", lateness.steps,
                        context.steps.rank_count(),
                        format_share(static_cast<std::int64_t>(*least_often), lateness.steps), most_of);
  if (is_rest)
    often += "; what is left is nobody's for certain";
  else if (!open)
    often += "; in the mean of these steps none is late beyond chance";
  else if (!open->within_clock_error)
    often += "; how its lateness moves leaves open whether it is late throughout";
  finding.evidence.push_back(std::move(often));
  if (open && open->within_clock_error)
    finding.evidence.push_back(fmt::format(
        "rank {} is later than the others by {} in the mean, and the clocks may be off by {}: what "
        "looks like lateness may be theirs",
        open->rank->rank, format_duration(open->rank->mean_ns), format_duration(open->rank->clock_error_ns)));
  if (std::string source = describe_source(sources, most, context.on_cpu, garbage); !source.empty())
    finding.evidence.push_back(std::move(source));
  if (is_rest) {
    // How many steps would show a rank that is late is of no use where one is shown.
  } else if (open) {
    if (open->steps_wanted > 0)
      finding.evidence.push_back(
          fmt::format("about {} steps like these would tell", format_count(open->steps_wanted)));
  } else if (context.steps.is_limited()) {
    // By so little no rank can be late where hosts fill the step.
  } else if (lateness.steps_to_tell > kMaxSteps)
    finding.evidence.push_back(
        "beside this jitter no run of a useful length would show a rank that is late by 3 % of a step");
  else if (lateness.steps_to_tell > lateness.steps)
    finding.evidence.push_back(
        fmt::format("beside this jitter a rank that is late by 3 % of a step would show after about {} steps",
                    format_count(two_digits(lateness.steps_to_tell))));
  finding.remedy = garbage ? std::string(kGarbageRemedy)
                   : open && open->within_clock_error
                       ? std::string(kClockRemedy)
                       : remedy_for(most, context.on_cpu, context.is_on_one_host());
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::jitter{kJitterKinds, find_jitter};

}  // namespace lockstep::analyzer
