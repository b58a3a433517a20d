// How much of the machine a job makes use of: POP's efficiencies, and by how much ranks are late.
#include <fmt/format.h>

#include "analyzer/figures/figures.h"
#include "analyzer/figures/steady_part.h"

namespace lockstep::analyzer::figures {
namespace {

std::vector<ScopedValue> of_job(std::optional<double> value) {
  return value ? std::vector<ScopedValue>{{"", *value}} : std::vector<ScopedValue>{};
}

}  // namespace

const FigureKind load_balance{
    .name = "load_balance",
    .meaning = "mean over ranks of their compute, divided by the greatest (POP)",
    .unit = Unit::share,
    .direction = Direction::higher_is_better,
    .floor = kHundredth,
    .values = [](const SteadyPart& run) { return of_job(run.report.efficiency.load_balance); }};
const FigureKind communication_efficiency{
    .name = "communication_efficiency",
    .meaning = "the greatest compute of a rank, divided by the longest window (POP)",
    .unit = Unit::share,
    .direction = Direction::higher_is_better,
    .floor = kHundredth,
    .values = [](const SteadyPart& run) { return of_job(run.report.efficiency.communication); }};
const FigureKind parallel_efficiency{
    .name = "parallel_efficiency",
    .meaning = "load balance times communication efficiency (POP)",
    .unit = Unit::share,
    .direction = Direction::higher_is_better,
    .floor = kHundredth,
    .values = [](const SteadyPart& run) { return of_job(run.report.efficiency.parallel); }};

const FigureKind goodput{.name = "goodput",
                         .meaning = "the share of the recorded wall time that is steady training",
                         .unit = Unit::share,
                         .direction = Direction::higher_is_better,
                         .floor = kHundredth,
                         .values = [](const SteadyPart& run) { return of_job(run.report.account.goodput); }};

// Where there are steps and ranks enough to tell.
const FigureKind lateness{
    .name = "lateness",
    .meaning = "by how much a rank comes later than the median of the others, a step: the mean",
    .unit = Unit::nanoseconds,
    .floor = kMillisecondOfStep,
    .values = [](const SteadyPart& run) {
      std::vector<ScopedValue> values;
      if (!run.report.lateness.can_tell) return values;
      for (const RankLateness& rank : run.report.lateness.ranks)
        values.push_back({fmt::format("rank {}", rank.rank), static_cast<double>(rank.mean_ns)});
      return values;
    }};

}  // namespace lockstep::analyzer::figures
