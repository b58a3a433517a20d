#include "analyzer/figures/steady_part.h"

#include <algorithm>

namespace lockstep::analyzer {
namespace {

std::vector<JobStep> steps_of(const Report& report) {
  std::vector<JobStep> steps;
  for (const StepReport& step : report.steps) {  // by step, then rank
    if (report.steady &&
        !std::binary_search(report.steady->steps.begin(), report.steady->steps.end(), step.step))
      continue;
    if (steps.empty() || steps.back().step != step.step) steps.push_back({.step = step.step});
    steps.back().window_ns += step.measures.window_ns;
    ++steps.back().ranks;
  }
  return steps;
}

}  // namespace

SteadyPart steady_part(const Report& report) {
  const std::vector<RankReport>& ranks = report.steady ? report.steady->ranks : report.ranks;
  const auto all = [&](auto known) {
    return !ranks.empty() && std::all_of(ranks.begin(), ranks.end(), known);
  };
  return {.report = report,
          .ranks = ranks,
          .steps = steps_of(report),
          .measures_known = all([](const RankReport& rank) { return rank.measures.known; }),
          .waits_known =
              all([](const RankReport& rank) { return rank.measures.known && rank.measures.waits_known; })};
}

std::optional<double> SteadyPart::per_step(std::int64_t ns) const {
  if (ranks.empty()) return std::nullopt;
  const std::optional<double> all = per_step_of_rank(ns);
  return all ? std::optional(*all / static_cast<double>(ranks.size())) : std::nullopt;
}

std::optional<double> SteadyPart::per_step_of_rank(std::int64_t ns) const {
  if (steps.empty()) return std::nullopt;
  return static_cast<double>(ns) / static_cast<double>(steps.size());
}

}  // namespace lockstep::analyzer
