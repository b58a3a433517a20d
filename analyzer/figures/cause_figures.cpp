// What goes into a step: the nine causes, which sum to its time, as time a step and, of those that people
// speak of so, as shares.
#include <fmt/format.h>

#include "analyzer/figures/figures.h"
#include "analyzer/figures/steady_part.h"

namespace lockstep::analyzer::figures {
namespace {

// Of the job: the mean over steps and ranks; of each rank: the mean over steps.
template <class OfRank>
std::vector<ScopedValue> times(const SteadyPart& run, OfRank of_rank) {
  if (!run.measures_known || run.steps.empty()) return {};
  std::int64_t all = 0;
  for (const RankReport& rank : run.ranks) all += of_rank(rank.measures);
  std::vector<ScopedValue> values{{"", *run.per_step(all)}};
  for (const RankReport& rank : run.ranks)
    values.push_back({fmt::format("rank {}", rank.rank), *run.per_step_of_rank(of_rank(rank.measures))});
  return values;
}

template <Cause cause>
std::vector<ScopedValue> times_of(const SteadyPart& run) {
  return times(run, [](const Measures& measures) { return measures.partition[cause]; });
}

// Of the windows of all ranks together. Such a share needs no steps.
template <class OfRank>
std::vector<ScopedValue> share(const SteadyPart& run, OfRank of_rank) {
  if (!run.measures_known) return {};
  std::int64_t part = 0, whole = 0;
  for (const RankReport& rank : run.ranks) {
    part += of_rank(rank.measures);
    whole += rank.measures.window_ns;
  }
  if (whole == 0) return {};
  return {{"", static_cast<double>(part) / static_cast<double>(whole)}};
}

template <Cause cause>
std::vector<ScopedValue> share_of(const SteadyPart& run) {
  return share(run, [](const Measures& measures) { return measures.partition[cause]; });
}

// Waiting and transfer are told apart only where the partners left a trace.
template <Cause cause>
std::vector<ScopedValue> times_where_waits_known(const SteadyPart& run) {
  return run.waits_known ? times_of<cause>(run) : std::vector<ScopedValue>{};
}

}  // namespace

#define LOCKSTEP_CAUSE_FIGURE(cause, text, function)                                                    \
  const FigureKind cause {                                                                              \
    .name = #cause, .meaning = text ", a step and rank: the mean over both", .unit = Unit::nanoseconds, \
    .floor = kMillisecondOfStep, .values = function<Cause::cause>                                       \
  }
LOCKSTEP_CAUSE_FIGURE(compute, "computing", times_of);
LOCKSTEP_CAUSE_FIGURE(transfer, "moving data with nothing computed beside it", times_where_waits_known);
LOCKSTEP_CAUSE_FIGURE(barrier_wait, "waiting for other ranks", times_where_waits_known);
LOCKSTEP_CAUSE_FIGURE(pipeline_bubble, "idle in a pipeline", times_where_waits_known);
LOCKSTEP_CAUSE_FIGURE(copy, "copying between host and device", times_of);
LOCKSTEP_CAUSE_FIGURE(data_wait, "waiting for the data loader", times_of);
LOCKSTEP_CAUSE_FIGURE(host_bound, "idle because the host had launched nothing", times_of);
LOCKSTEP_CAUSE_FIGURE(queued, "idle though work was launched", times_of);
LOCKSTEP_CAUSE_FIGURE(other, "idle for no known cause", times_of);
#undef LOCKSTEP_CAUSE_FIGURE

const FigureKind compute_share{.name = "compute_share",
                               .meaning = "the share of all ranks' steps that is computing",
                               .unit = Unit::share,
                               .direction = Direction::higher_is_better,
                               .floor = kHundredth,
                               .values = share_of<Cause::compute>};
const FigureKind barrier_wait_share{
    .name = "barrier_wait_share",
    .meaning = "the share of all ranks' steps that is waiting for other ranks",
    .unit = Unit::share,
    .floor = kHundredth,
    .values = [](const SteadyPart& run) {
      return run.waits_known ? share_of<Cause::barrier_wait>(run) : std::vector<ScopedValue>{};
    }};
const FigureKind exposed_communication_share{
    .name = "exposed_communication_share",
    .meaning = "the share of all ranks' steps that is communication beside which nothing computes",
    .unit = Unit::share,
    .floor = kHundredth,
    .values = [](const SteadyPart& run) {
      return share(run, [](const Measures& measures) { return measures.exposed_communication_ns; });
    }};
const FigureKind exposed_communication{
    .name = "exposed_communication",
    .meaning = "communication beside which nothing computes, a step and rank: the mean over both",
    .unit = Unit::nanoseconds,
    .floor = kMillisecondOfStep,
    .values = [](const SteadyPart& run) {
      return times(run, [](const Measures& measures) { return measures.exposed_communication_ns; });
    }};
const FigureKind collective_wait{
    .name = "collective_wait",
    .meaning = "waiting in collectives, hidden or not, a step and rank: the mean over both",
    .unit = Unit::nanoseconds,
    .floor = kMillisecondOfStep,
    .values = [](const SteadyPart& run) {
      return run.waits_known
                 ? times(run,
                         [](const Measures& measures) {
                           return measures.collective_wait_ns + measures.hidden_collective_wait_ns;
                         })
                 : std::vector<ScopedValue>{};
    }};
const FigureKind overlap_ratio{
    .name = "overlap_ratio",
    .meaning = "the share of all ranks' communication beside which something computes",
    .unit = Unit::share,
    .direction = Direction::higher_is_better,
    .floor = kHundredth,
    .values = [](const SteadyPart& run) -> std::vector<ScopedValue> {
      if (!run.measures_known) return {};
      std::int64_t hidden = 0, all = 0;
      for (const RankReport& rank : run.ranks) {
        if (rank.measures.communication_ns > 0 && !rank.measures.overlap_ratio)
          return {};  // nobody knows what computed
        hidden += rank.measures.overlap_ns;
        all += rank.measures.communication_ns;
      }
      if (all == 0) return {};
      return {{"", static_cast<double>(hidden) / static_cast<double>(all)}};
    }};

}  // namespace lockstep::analyzer::figures
