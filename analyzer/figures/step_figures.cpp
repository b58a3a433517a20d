// How long steps take, and how many there are in a second.
#include <utility>

#include "analyzer/figures/figures.h"
#include "analyzer/figures/steady_part.h"
#include "analyzer/intervals/median.h"

namespace lockstep::analyzer::figures {
namespace {

// The median over steps, so that one step that something else delayed does not decide.
std::vector<ScopedValue> step_times(const SteadyPart& run) {
  if (run.steps.empty()) return {};
  std::vector<double> of_steps;
  for (const JobStep& step : run.steps) of_steps.push_back(step.mean_ns());
  return {{"", lower_median(std::move(of_steps))}};
}

double seconds_a_step(const SteadyPart& run) {
  double ns = 0;
  for (const JobStep& step : run.steps) ns += step.mean_ns();
  return ns / 1e9 / static_cast<double>(run.steps.size());
}

std::vector<ScopedValue> throughputs(const SteadyPart& run) {
  if (run.steps.empty()) return {};
  const double seconds = seconds_a_step(run);
  return seconds > 0 ? std::vector<ScopedValue>{{"", 1 / seconds}} : std::vector<ScopedValue>{};
}

}  // namespace

const FigureKind step_time{.name = "step_time",
                           .meaning = "time of a step: the median over steady steps of the mean over ranks",
                           .unit = Unit::nanoseconds,
                           .floor = kMillisecondOfStep,
                           .values = step_times};
const FigureKind throughput{.name = "throughput",
                            .meaning = "steps a second: of the mean step, so that slow steps count",
                            .unit = Unit::per_second,
                            .direction = Direction::higher_is_better,
                            .values = throughputs};

}  // namespace lockstep::analyzer::figures
