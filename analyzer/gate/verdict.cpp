#include "analyzer/gate/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/comparison/difference.h"
#include "analyzer/comparison/holm.h"
#include "analyzer/comparison/runs_needed.h"
#include "base/words.h"

namespace lockstep::analyzer {
namespace {

std::string describe(const RunSetting& setting) {
  return fmt::format(
      "{} ranks on {} of {}", setting.world_size,
      setting.hosts == 1 ? "1 host" : fmt::format("{} hosts", setting.hosts),
      setting.devices.empty() ? "unknown devices" : join_words(setting.devices, ", ", " and "));
}

Status check_side(std::span<const RunRecord> runs) {
  for (const RunRecord& run : runs) {
    if (!run.unfit.empty()) return Error{fmt::format("{} can't be judged: {}", run.path, run.unfit)};
    if (run.setting != runs.front().setting)
      return Error{fmt::format("{} is of {}, and {} of {}: runs of one side have to be alike", run.path,
                               describe(run.setting), runs.front().path, describe(runs.front().setting))};
  }
  return {};
}

// The figure of each run; a message where one does not tell it.
struct Values {
  std::vector<double> values;
  std::string missing;
};
Values values_of(const Rule& rule, std::span<const RunRecord> runs) {
  Values all;
  for (const RunRecord& run : runs) {
    const std::optional<double> value = run.of(rule.figure->name, rule.scope);
    if (!value) {
      all.missing = fmt::format("{} does not tell it", run.path);
      return all;
    }
    all.values.push_back(*value);
  }
  return all;
}

// What is counted has no spread to be estimated.
Sample sample_for(const Rule& rule, std::span<const double> values) {
  Sample sample = sample_of(values);
  if (rule.figure->unit == Unit::count && sample.runs == 1) sample.deviation = 0;
  return sample;
}

FigureVerdict measured(const Rule& rule, std::span<const RunRecord> head, std::span<const RunRecord> base) {
  FigureVerdict figure{.rule = rule,
                       .why_missing = "",
                       .head = {},
                       .base = {},
                       .chance = std::nullopt,
                       .runs_needed = std::nullopt,
                       .expected = std::nullopt};
  const Values of_head = values_of(rule, head);
  const Values of_base = rule.bound ? Values{} : values_of(rule, base);
  if (!of_head.missing.empty() || !of_base.missing.empty()) {
    figure.missing = true;
    figure.why_missing = of_head.missing.empty() ? "the baseline: " + of_base.missing : of_head.missing;
    return figure;
  }
  figure.head = sample_for(rule, of_head.values);
  if (!rule.bound && base.empty()) {
    figure.uncompared = true;
    return figure;
  }
  figure.base = sample_for(rule, of_base.values);
  figure.limit = excess_of(figure).limit;
  return figure;
}

void settle_zones(const Policy& policy, std::vector<FigureVerdict>& figures) {
  std::vector<WeightedChance> worse, better;
  std::vector<FigureVerdict*> of_chance;
  for (FigureVerdict& figure : figures) {
    if (!figure.has_limit()) continue;
    const std::optional<double> chance = chance_as_high(excess_of(figure).beyond);
    if (!chance) continue;
    const Rule& rule = figure.rule;
    of_chance.push_back(&figure);
    worse.push_back({*chance, rule.weight});
    const std::optional<double> gain =
        rule.bound ? std::nullopt
                   : chance_as_high(
                         gain_over(figure.head, figure.base, rule.figure->direction, rule.tolerance).beyond);
    better.push_back({gain.value_or(1), rule.weight});
  }
  const std::vector<double> worse_adjusted = holm(worse), better_adjusted = holm(better);
  for (std::size_t i = 0; i < of_chance.size(); ++i) {
    FigureVerdict& figure = *of_chance[i];
    figure.chance = worse_adjusted[i];
    figure.is_better = better_adjusted[i] <= policy.false_alarms;
  }
  // More runs may tell the spread of those too that have none yet.
  double weights = 0;
  for (const FigureVerdict& figure : figures) weights += figure.has_limit() ? figure.rule.weight : 0;
  for (FigureVerdict& figure : figures) {
    if (!figure.has_limit()) continue;
    const Excess excess = excess_of(figure);
    figure.zone = zone_of(excess, figure.chance, policy.false_alarms, policy.confidence);
    if (figure.zone == Zone::undecided)
      figure.runs_needed = runs_needed(
          excess, sureness_among(policy.false_alarms, policy.confidence, figure.rule.weight / weights));
  }
}

// Of the entries that stand for a figure the one that holds longest; null where there is none.
const Expected* find_expected(const Policy& policy, const Rule& rule) {
  const Expected* last = nullptr;
  for (const Expected& expected : policy.expected)
    if (expected.stands_for(rule) && (last == nullptr || expected.until > last->until)) last = &expected;
  return last;
}

// Dates that are written so compare as text.
bool is_in_force(const Expected* expected, const VerdictOptions& options) {
  return expected != nullptr && options.today <= expected->until;
}

// Whatever became of figures that are all expected to be worse, none of them could fail.
Status check_gates_something(const Policy& policy, const VerdictOptions& options) {
  std::vector<std::string> excused;
  for (const Rule& rule : policy.rules) {
    const Expected* const expected = find_expected(policy, rule);
    if (!is_in_force(expected, options)) return {};
    excused.push_back(fmt::format("{} until {}", rule.name(), expected->until));
  }
  return Error{fmt::format(
      "{} expects every figure that it has to be worse ({}): nothing is left to gate; hold another figure to "
      "something as well, or take an [[expected]] out",
      policy.source, join_words(excused, ", "))};
}

void settle_expected(const Policy& policy, const VerdictOptions& options, Verdict& verdict) {
  for (FigureVerdict& figure : verdict.figures) {
    const Expected* const expected = find_expected(policy, figure.rule);
    if (expected == nullptr) continue;
    if (is_in_force(expected, options)) {
      figure.expected = *expected;
      continue;
    }
    figure.expired = *expected;
    std::string warning = fmt::format(
        "the expected regression of {} expired on {} ({}): it counts again; take the entry out of {}, or give "
        "it a later day",
        expected->name(), expected->until, expected->reason, policy.source);
    // A figure may be held to a baseline and to a bound.
    if (std::find(verdict.warnings.begin(), verdict.warnings.end(), warning) == verdict.warnings.end())
      verdict.warnings.push_back(std::move(warning));
  }
}

Outcome outcome_of(const std::vector<FigureVerdict>& figures) {
  const auto any = [&](auto is) { return std::any_of(figures.begin(), figures.end(), is); };
  if (any([](const FigureVerdict& one) { return one.missing || (one.zone == Zone::worse && !one.expected); }))
    return Outcome::fail;
  if (any([](const FigureVerdict& one) { return one.uncompared; })) return Outcome::not_compared;
  return any([](const FigureVerdict& one) { return one.zone == Zone::undecided && !one.expected; })
             ? Outcome::undecided
             : Outcome::pass;
}

}  // namespace

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass:
      return "pass";
    case Outcome::fail:
      return "fail";
    case Outcome::not_compared:
      return "not_compared";
    case Outcome::undecided:
      break;
  }
  return "undecided";
}

Excess excess_of(const FigureVerdict& figure) {
  const Rule& rule = figure.rule;
  return rule.bound ? excess_over(figure.head, *rule.bound, rule.figure->direction, rule.tolerance)
                    : excess_over(figure.head, figure.base, rule.figure->direction, rule.tolerance);
}

bool needs_baseline(const Policy& policy) {
  return std::any_of(policy.rules.begin(), policy.rules.end(), [](const Rule& rule) { return !rule.bound; });
}

Result<Verdict> judge(const Policy& policy, std::span<const RunRecord> head, std::span<const RunRecord> base,
                      const VerdictOptions& options) {
  if (head.empty()) return Error{"there is no run to judge"};
  if (policy.rules.empty()) return Error{fmt::format("{} holds no figure to anything", policy.source)};
  if (base.empty() && needs_baseline(policy) && !options.no_baseline_yet)
    return Error{"there is no baseline to hold the runs to"};
  if (const Status status = check_gates_something(policy, options); !status.ok()) return status.error();
  for (const std::span<const RunRecord> side : {head, base})
    if (const Status status = check_side(side); !status.ok()) return status.error();
  const std::span<const RunRecord> others = options.against_itself ? std::span<const RunRecord>() : base;
  if (const Status status = check_different(head, others); !status.ok()) return status.error();
  Verdict verdict;
  if (!base.empty() && head.front().setting != base.front().setting) {
    const std::string differ = fmt::format("the runs are of {}, the baseline of {}",
                                           describe(head.front().setting), describe(base.front().setting));
    if (!options.other_setting && needs_baseline(policy)) return Error{differ + ": they do not compare"};
    verdict.warnings.push_back(differ);
  }
  for (const Rule& rule : policy.rules) verdict.figures.push_back(measured(rule, head, base));
  verdict.step = step_change(head, base);
  settle_zones(policy, verdict.figures);
  settle_expected(policy, options, verdict);
  verdict.outcome = outcome_of(verdict.figures);
  return verdict;
}

}  // namespace lockstep::analyzer
