#include "analyzer/gate/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analyzer/comparison/runs_needed.h"
#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "base/counts.h"
#include "base/words.h"

namespace lockstep::analyzer {
namespace {

// Of what the figure is held to: the baseline's mean or the bound.
double held_to(const FigureVerdict& figure) {
  return figure.rule.bound ? *figure.rule.bound : figure.base.mean;
}

std::vector<std::string> names_of(const Verdict& verdict, std::string_view state) {
  std::vector<std::string> names;
  for (const FigureVerdict& figure : verdict.figures)
    if (state_text(figure) == state) names.push_back(figure.rule.name());
  return names;
}

std::string of_all(const Verdict& verdict, const std::vector<std::string>& names, std::string_view is,
                   std::string_view are) {
  return fmt::format("{} of {} {}: {}", names.size(), format_plural(verdict.figures.size(), "figure"),
                     names.size() == 1 ? is : are, join_words(names, ", "));
}

}  // namespace

std::string value_text(const FigureVerdict& figure, const Sample& sample) {
  if (sample.runs == 0) return kAbsent;
  const Unit unit = figure.rule.figure->unit;
  const std::string mean = format_figure(sample.mean, unit);
  return sample.deviation && *sample.deviation > 0
             ? fmt::format("{} ± {}", mean, format_figure(*sample.deviation, unit))
             : mean;
}

std::string limit_text(const FigureVerdict& figure) {
  if (!figure.has_limit()) return kAbsent;
  const Unit unit = figure.rule.figure->unit;
  const double from = held_to(figure);
  const std::string limit = format_figure(figure.limit, unit);
  if (figure.limit == from) return limit;
  const Tolerance& tolerance = figure.rule.tolerance;
  const char* const sign = figure.limit > from ? "+" : "-";
  return fmt::format("{} = {} {} {}", limit, format_figure(from, unit), sign,
                     is_relative(tolerance, from) ? fmt::format("{:g} %", tolerance.relative * 100)
                                                  : format_figure(tolerance.floor, unit));
}

std::string change_text(const FigureVerdict& figure) {
  if (!figure.has_limit()) return kAbsent;
  const double from = held_to(figure), change = figure.head.mean - from;
  if (figure.rule.figure->unit == Unit::share) return fmt::format("{:+.1f} points", change * 100);
  if (from == 0) return change == 0 ? "0" : kAbsent;
  return fmt::format("{:+.1f} %", change / std::abs(from) * 100);
}

std::string state_text(const FigureVerdict& figure) {
  if (figure.missing) return "missing";
  if (figure.uncompared) return "not compared";
  if (figure.expected && figure.zone != Zone::within) return "expected";
  if (figure.is_better) return "better";
  return to_string(figure.zone);
}

std::string reason_text(const FigureVerdict& figure) {
  if (figure.missing) return figure.why_missing;
  if (figure.uncompared) return "there is no baseline yet";
  if (figure.expected && figure.zone != Zone::within)
    return fmt::format("expected until {}: {}", figure.expected->until, figure.expected->reason);
  if (figure.is_better) return "better than the baseline by more than the tolerance: save a new one";
  if (figure.zone == Zone::worse && figure.expired)
    return fmt::format("it was expected until {} ({}), and that has expired", figure.expired->until,
                       figure.expired->reason);
  if (figure.zone != Zone::undecided) return "";
  if (!figure.chance)
    return "one run a side does not tell by how much runs differ anyway: give two or more, or a baseline of several";
  if (!figure.runs_needed)
    return fmt::format(
        "runs differ by more than what is to be decided: {} further ones of each side would not settle it; "
        "a quieter machine, or a larger tolerance, would",
        kMaxMoreRuns);
  return fmt::format("{} of each side would decide it, 9 times in 10",
                     format_plural(*figure.runs_needed, "more run", "more runs"));
}

std::string step_text(const Verdict& verdict) {
  constexpr double kTelling = 0.1;  // of the greatest change
  const bool any = std::ranges::any_of(verdict.figures, [](const FigureVerdict& figure) {
    return !figure.missing && (figure.zone == Zone::worse || figure.is_better);
  });
  if (!any || !verdict.step) return "";
  const StepChange& step = *verdict.step;
  const double change = step.head_ns - step.base_ns, greatest = std::abs(step.causes.front().change_ns());
  std::vector<std::string> parts;
  for (const CauseChange& cause : step.causes)
    if (std::abs(cause.change_ns()) > kTelling * greatest)
      parts.push_back(fmt::format("{} {}{}", style_of(cause.cause).label, cause.change_ns() < 0 ? "-" : "+",
                                  format_figure(std::abs(cause.change_ns()), Unit::nanoseconds)));
  if (parts.empty()) return "";
  const std::string times = join_words(parts, ", ");
  // Changes that make up for each other are worth a word as well.
  if (std::abs(change) < kTelling * greatest) return "a step takes as long in the mean: " + times;
  return fmt::format("a step takes {} {} in the mean: {}", format_figure(std::abs(change), Unit::nanoseconds),
                     change < 0 ? "less" : "longer", times);
}

std::string headline(const Verdict& verdict) {
  const std::vector<std::string> worse = names_of(verdict, "worse"), missing = names_of(verdict, "missing"),
                                 undecided = names_of(verdict, "undecided"),
                                 uncompared = names_of(verdict, "not compared"),
                                 expected = names_of(verdict, "expected");
  switch (verdict.outcome) {
    case Outcome::fail:
      if (worse.empty()) return of_all(verdict, missing, "is missing", "are missing");
      return of_all(verdict, worse, "is worse than allowed", "are worse than allowed");
    case Outcome::undecided:
      return of_all(verdict, undecided, "is undecided", "are undecided");
    case Outcome::not_compared:
      if (uncompared.size() == verdict.figures.size())
        return "nothing was compared: there is no baseline yet";
      return of_all(verdict, uncompared, "is not compared", "are not compared") +
             "; there is no baseline yet";
    case Outcome::pass:
      if (!expected.empty())
        return of_all(verdict, expected, "is expected not to be within its limit",
                      "are expected not to be within their limits") +
               "; the others are";
      break;
  }
  return fmt::format(
      "{} within {} limits",
      verdict.figures.size() == 1 ? "1 figure is" : fmt::format("all {} figures are", verdict.figures.size()),
      verdict.figures.size() == 1 ? "its" : "their");
}

}  // namespace lockstep::analyzer
