#include "analyzer/gate/quietness.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "analyzer/comparison/chance_within.h"
#include "analyzer/comparison/runs_needed.h"
#include "base/counts.h"

namespace lockstep::analyzer {
namespace {

constexpr double kSure = 0.95, kSettled = 0.9;

double least_chance_of(const FigureVerdict& figure, double confidence) {
  return chance_within(excess_of(figure), confidence, most_times_deviation(figure.head.runs, kSure));
}

std::optional<std::size_t> runs_enough(FigureVerdict figure, double confidence) {
  const auto enough = [&](std::size_t runs) {
    figure.head.runs = runs;
    if (!figure.rule.bound) figure.base.runs = runs;
    return least_chance_of(figure, confidence) >= kSettled;
  };
  std::size_t too_few = figure.head.runs, settle = too_few + kMaxMoreRuns;
  if (!enough(settle)) return std::nullopt;
  // The chance grows with the runs.
  while (settle - too_few > 1) {
    const std::size_t middle = (too_few + settle) / 2;
    (enough(middle) ? settle : too_few) = middle;
  }
  return settle;
}

FigureQuietness quietness_of(FigureVerdict figure, double confidence) {
  FigureQuietness one{
      .figure = std::move(figure), .most_deviation = std::nullopt, .runs_enough = std::nullopt};
  const FigureVerdict& held = one.figure;
  if (held.missing) return one;
  const Excess excess = excess_of(held);
  if (!excess.beyond.standard_error) {
    one.quiet = Quiet::unclear;
    return one;
  }
  one.chance = one.least_chance = chance_within(excess, confidence);
  one.most_deviation = held.head.deviation;
  if (*excess.beyond.standard_error > 0) {
    *one.most_deviation *= most_times_deviation(held.head.runs, kSure);
    one.least_chance = least_chance_of(held, confidence);
  }
  one.quiet = one.least_chance >= kSettled ? Quiet::yes : one.chance >= kSettled ? Quiet::unclear : Quiet::no;
  if (one.quiet != Quiet::yes && held.head.runs > 1) one.runs_enough = runs_enough(held, confidence);
  return one;
}

std::string of_a_hundred(double chance) {
  return fmt::format("in {} of 100 cases", static_cast<int>(std::floor(chance * 100)));
}

}  // namespace

Result<std::vector<FigureQuietness>> quietness(const Policy& policy, std::span<const RunRecord> runs) {
  Policy plain = policy;
  plain.expected.clear();
  Result<Verdict> verdict = judge(plain, runs, runs, {.today = "", .against_itself = true});
  if (!verdict.ok()) return verdict.error();
  std::vector<FigureQuietness> all;
  for (FigureVerdict& figure : verdict.value().figures)
    all.push_back(quietness_of(std::move(figure), policy.confidence));
  return all;
}

std::string quietness_text(const FigureQuietness& one) {
  const FigureVerdict& figure = one.figure;
  if (figure.missing) return figure.why_missing;
  if (!one.most_deviation) return "one run does not tell by how much runs differ: save three or more";
  const std::string most = fmt::format("± {}, the most that {} leave open",
                                       format_figure(*one.most_deviation, figure.rule.figure->unit),
                                       format_plural(figure.head.runs, "run"));
  if (one.quiet == Quiet::yes) return *one.most_deviation > 0 ? "settled, also at " + most : "settled";
  const std::string what_would_do = one.runs_enough ? fmt::format("{} a side would do, if they vary as these",
                                                                  format_plural(*one.runs_enough, "run"))
                                                    : "a quieter machine would do, or a larger tolerance";
  if (one.quiet == Quiet::unclear)
    return fmt::format("settled as these vary, but only {} at {}; {}", of_a_hundred(one.least_chance), most,
                       what_would_do);
  return fmt::format("settled {} as these vary; {}", of_a_hundred(one.chance), what_would_do);
}

}  // namespace lockstep::analyzer
