// The verdict on a terminal.
#include <fmt/format.h>

#include "analyzer/gate/verdict_outputs.h"
#include "analyzer/gate/verdict_words.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "base/counts.h"

namespace lockstep::analyzer {
namespace {

const char* word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass:
      return "PASS";
    case Outcome::fail:
      return "FAIL";
    case Outcome::not_compared:
      return "NOT COMPARED";
    case Outcome::undecided:
      break;
  }
  return "UNDECIDED";
}

std::string what_was_compared(const VerdictContext& context) {
  std::string text = format_plural(context.head_runs, "run");
  if (context.base_runs > 0)
    text += fmt::format(" against {} of {}", format_count(context.base_runs), printable(context.baseline));
  return fmt::format("{}; {}: a healthy change fails in at most {:g} % of cases", text,
                     printable(context.policy), context.false_alarms * 100);
}

}  // namespace

std::string to_text(const Verdict& verdict, const VerdictContext& context, const PageOptions& options) {
  Page page(options);
  page.wrap(Line{}.bold(word_of(verdict.outcome)).text(" — " + headline(verdict)), 0, 2);
  page.blank();
  Table table({{"figure", false, 0},
               {"runs", true, 0},
               {"baseline", true, 2},
               {"change", true, 1},
               {"limit", true, 0},
               {"verdict", false, 0}});
  for (const FigureVerdict& figure : verdict.figures) {
    const std::string state = state_text(figure);
    const bool is_bad = state == "worse" || state == "missing";
    table.add_row({Line{}.text(printable(figure.rule.name())), Line{}.text(value_text(figure, figure.head)),
                   Line{}.text(value_text(figure, figure.base)), Line{}.text(change_text(figure)),
                   Line{}.text(limit_text(figure)), is_bad ? Line{}.bold(state) : Line{}.text(state)});
  }
  table.print(page, 2);
  page.blank();
  for (const FigureVerdict& figure : verdict.figures)
    if (const std::string reason = reason_text(figure); !reason.empty())
      page.wrap(Line{}.text(fmt::format("{}: {}", printable(figure.rule.name()), printable(reason))), 2, 4);
  if (const std::string step = step_text(verdict); !step.empty()) {
    page.wrap(Line{}.text(step), 2, 4);
    if (!context.diff_command.empty())
      page.wrap(Line{}.text("ranks, collectives and layers: " + printable(context.diff_command)), 2, 4);
  }
  for (const std::string& warning : verdict.warnings)
    page.wrap(Line{}.text("warning: " + printable(warning)), 2, 4);
  page.wrap(Line{}.dim(what_was_compared(context)), 2, 4);
  return page.take();
}

}  // namespace lockstep::analyzer
