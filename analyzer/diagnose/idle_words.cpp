#include "analyzer/diagnose/idle_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/comparable_ranks.h"
#include "analyzer/diagnose/garbage_collections.h"
#include "analyzer/diagnose/idle_gaps.h"
#include "analyzer/diagnose/slow_place_words.h"
#include "analyzer/intervals/median.h"
#include "analyzer/report/quantity.h"
#include "analyzer/stacks/slow_place.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// What one rank alone does costs it a hundredth of all ranks' time, by the share of looks that saw it, and
// leaves it with more time between computations than the ranks that it can be compared with.
bool costs_that_rank(const FindingContext& context, const OneRanksPlace& place) {
  constexpr std::int64_t kPermille = 10;
  std::int64_t own = 0;
  std::vector<std::int64_t> others;
  const std::vector<std::int32_t> comparable = comparable_ranks(context.report, place.rank);
  for (const RankReport& rank : context.report.ranks) {
    const std::int64_t ns = rank.measures.partition[Cause::host_bound];
    if (rank.rank == place.rank && rank.measures.known) own = ns;
    if (std::binary_search(comparable.begin(), comparable.end(), rank.rank)) others.push_back(ns);
  }
  const auto there = static_cast<std::int64_t>(static_cast<double>(own) * static_cast<double>(place.looks) /
                                               static_cast<double>(place.all_looks));
  return !others.empty() && own > lower_median(std::move(others)) && context.is_worth(there, kPermille);
}

// The threads run, in a module's forward(): that is computation, of which no range tells.
void say_it_computes(Finding& finding) {
  finding.is_note = true;
  finding.lost_ns = 0;  // nothing is, as far as it is that
  finding.evidence.emplace_back(
      "their threads ran, or wanted to, for at least half of that time: it is a forward pass rather than "
      "idling");
  finding.remedy =
      "a forward pass without gradients of a model that no wrapper holds (a teacher, a rollout) is not "
      "recorded as computation: an NVTX range around it shows it in the timeline "
      "(docs/instrumentation.md)";
}

void say_no_computation_is_known(Finding& finding, const std::string& who, const std::string& place,
                                 const ThreadsInGaps& threads) {
  finding.is_note = true;
  finding.lost_ns = 0;
  finding.title =
      fmt::format("hardly any computation of this program was recognized; {} in `{}` above all", who, place);
  finding.evidence.emplace_back(
      threads.ran
          ? "their threads ran, or wanted to, for at least half of that time: they compute, or work in Python"
      : threads.may_have_run ? "their threads may have run for half of that time: looks at them do not tell"
                             : "for how much of that time their threads computed is not known");
  finding.remedy =
      "`lockstep record --operators` records what PyTorch computes outside of backward passes and optimizers "
      "(torch.func, for one); `lockstep.compute` ranges name it (docs/instrumentation.md)";
}

// They run, in a line that may do either: work in Python, or computation of which no range tells.
void say_they_run(const Job& job, bool ran, Finding& finding) {
  finding.evidence.push_back(fmt::format(
      "their threads {}: in Python, or in computation that is not recorded as such (a forward pass without "
      "gradients of a model that no wrapper holds)",
      ran ? "ran, or wanted to, for at least half of that time"
          : "may have run for half of that time, which looks at them do not tell"));
  finding.remedy = fmt::format(
      "{}what that line does in Python: shorten it, or do it beside training. What it computes is part of the "
      "job's work",
      has_operators(job) ? "" : "`lockstep record --operators` tells what PyTorch computes there; ");
}

// The step of the rank in which most looks saw it in the function: most time without a name may lie
// elsewhere, in imports for one.
std::optional<FindingPlace> step_of_most_looks(const FindingContext& context, const OneRanksPlace& place,
                                               const RankTrace& rank, const IntervalSet& times) {
  const std::string_view function = function_of_place(place.place);
  std::vector<Nanoseconds> looks;
  for (const HostRange& range : rank.host_ranges)
    if (range.kind == HostKind::python_place && times.contains(range.begin) &&
        function_of_place(context.diagnosis.job.strings.view(range.name)) == function)
      looks.push_back(range.begin - context.report.origin_aligned_ns);
  std::ranges::sort(looks);
  std::optional<FindingPlace> most;
  std::ptrdiff_t most_looks = 0;
  for (const StepReport& step : context.report.steps) {
    if (step.rank != place.rank) continue;
    const auto count =
        std::ranges::lower_bound(looks, step.end_ns) - std::ranges::lower_bound(looks, step.begin_ns);
    if (count <= most_looks) continue;
    most_looks = count;
    most = FindingPlace{step.rank, step.step, std::nullopt, step.begin_ns, step.end_ns};
  }
  return most;
}

// What is computed outside of the passes that the trace knows lies between computations, and so does work
// that is none.
void say_whether_it_works(const FindingContext& context, std::int32_t number, Finding& finding) {
  for (const RankTrace& rank : context.diagnosis.job.ranks) {
    if (rank.rank != number) continue;
    const GapTimes times = times_of_gaps(rank, context.report, Cause::host_bound);
    if (times.running && times.running->least >= 0.5)
      finding.evidence.emplace_back(
          "its training threads ran then, or were ready to, for at least half of the time: it works there. "
          "What is computed outside of forward and backward passes and of the optimizer's step counts as "
          "between computations, too");
  }
}

// The line at which it happens is seldom to blame.
void say_it_collects_garbage(const OneRanksPlace& place, std::int64_t collected_ns, std::int64_t all_ns,
                             Finding& finding) {
  finding.title =
      fmt::format("between its computations rank {} collects garbage at `{}`, and no other rank does",
                  place.rank, place.place);
  finding.evidence.push_back(
      fmt::format("{} of {} of the time between its computations is garbage collection",
                  format_duration(collected_ns), format_duration(all_ns)));
  finding.remedy = kGarbageRemedy;
}

// The one rank that has such times and steps: there is no other to compare it with.
std::optional<std::int32_t> only_rank_with(const FindingContext& context,
                                           const std::vector<IntervalSet>& times) {
  const std::optional<std::int32_t> only = only_rank_with_steps(context.report);
  const std::vector<RankTrace>& ranks = context.diagnosis.job.ranks;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (only && ranks[i].rank != *only && !times[i].empty()) return std::nullopt;
  return only;
}

}  // namespace

bool knows_no_computation(const FindingContext& context) {
  for (const RankTrace& rank : context.diagnosis.job.ranks)
    for (const Computation& computation : rank.computations)
      if (computation.pass == Pass::backward) return false;
  std::int64_t compute = 0;
  for (const RankReport& rank : context.report.ranks)
    compute = saturating_add(compute, rank.measures.compute_ns);
  return !context.is_worth(compute, 10);
}

ThreadsInGaps threads_in_gaps(const FindingContext& context) {
  ThreadsInGaps threads;
  double seen = 0, ran = 0, may_have_run = 0;
  for (const RankTrace& rank : context.diagnosis.job.ranks) {
    const GapTimes times = times_of_gaps(rank, context.report, Cause::host_bound);
    threads.without_core_ns = saturating_add(threads.without_core_ns, times.without_core_ns);
    if (!times.running) continue;
    seen += static_cast<double>(times.all_ns);
    ran += static_cast<double>(times.all_ns) * times.running->least;
    may_have_run += static_cast<double>(times.all_ns) * times.running->most;
  }
  threads.ran = ran * 2 >= seen && seen > 0;
  threads.may_have_run = !threads.ran && may_have_run * 2 >= seen && seen > 0;
  return threads;
}

bool say_all_collect_garbage(const FindingContext& context, const std::vector<IntervalSet>& times,
                             Finding& finding) {
  const Job& job = context.diagnosis.job;
  std::int64_t collected = 0, all = 0;
  std::size_t idle = 0, collect = 0;  // ranks
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const std::int64_t own = times[i].measure();
    if (own == 0) continue;
    const std::int64_t of_own = intersect(times[i], garbage_collections(job.ranks[i], job.strings)).measure();
    ++idle;
    collect += 2 * of_own >= own ? 1 : 0;
    collected = saturating_add(collected, of_own);
    all = saturating_add(all, own);
  }
  // On most of the ranks, or of most of the time.
  if (2 * collect <= idle && 2 * collected < all) return false;
  const std::optional<std::int32_t> only = only_rank_with(context, times);
  finding.title = only ? fmt::format("between its computations rank {} collects garbage above all", *only)
                       : "between their computations ranks collect garbage above all";
  finding.evidence.push_back(fmt::format("{} of {} of the time between computations is garbage collection",
                                         format_duration(collected), format_duration(all)));
  finding.remedy = kGarbageRemedy;
  return true;
}

bool name_what_ranks_do(const FindingContext& context, const std::vector<IntervalSet>& times,
                        const ThreadsInGaps& threads, Finding& finding) {
  const Job& job = context.diagnosis.job;
  const std::vector<OneRanksPlace> of_one = places_of_one_rank(job, times);
  const auto place = std::find_if(of_one.begin(), of_one.end(),
                                  [&](const auto& each) { return costs_that_rank(context, each); });
  if (place != of_one.end()) {
    finding.rank = place->rank;
    finding.accuses = Accused::rank;
    finding.title = fmt::format("between its computations rank {} is in `{}`, which no other rank is",
                                place->rank, place->place);
    finding.evidence.push_back(fmt::format(
        "{} of {} at its Python stacks in that time saw it there, {} of all {} at the others'",
        format_count(place->looks), format_plural(place->all_looks, "look"),
        place->others == 0 ? "none" : format_count(place->others), format_count(place->all_others)));
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
      if (job.ranks[i].rank != place->rank) continue;
      finding.place = step_of_most_looks(context, *place, job.ranks[i], times[i]);
      const std::int64_t collected =
          intersect(times[i], garbage_collections(job.ranks[i], job.strings)).measure();
      if (2 * collected >= times[i].measure())
        say_it_collects_garbage(*place, collected, times[i].measure(), finding);
      else
        say_whether_it_works(context, place->rank, finding);
    }
    finding.evidence.push_back(fmt::format(
        "that is its own time: what others wait for rank {} meanwhile is not counted", place->rank));
    return true;
  }
  if (say_all_collect_garbage(context, times, finding)) return true;
  const std::optional<CommonPlace> common = most_common_place(job, times);
  if (!common) return false;
  const std::optional<std::int32_t> only = only_rank_with(context, times);
  const std::string who = only ? fmt::format("rank {} is", *only) : "ranks are";
  const char* const how_often = 2 * common->looks >= common->all_looks ? "above all" : "most often";
  const bool computes_perhaps = threads.ran || threads.may_have_run;
  finding.title = computes_perhaps ? fmt::format("{} in `{}` {} where the trace knows no computation", who,
                                                 common->place, how_often)
                                   : fmt::format("between {} computations {} in `{}` {}",
                                                 only ? "its" : "their", who, common->place, how_often);
  finding.evidence.push_back(fmt::format("{} of {} at Python stacks in that time saw it there",
                                         format_count(common->looks),
                                         format_plural(common->all_looks, "look")));
  if (only) finding.evidence.emplace_back("no other rank has steps: there is nothing to compare it with");
  // PyTorch's name for what a module computes.
  if (knows_no_computation(context))
    say_no_computation_is_known(finding, who, common->place, threads);
  else if (threads.ran && common->place.starts_with("forward ("))
    say_it_computes(finding);
  else if (computes_perhaps)
    say_they_run(job, threads.ran, finding);
  return true;
}

}  // namespace lockstep::analyzer
