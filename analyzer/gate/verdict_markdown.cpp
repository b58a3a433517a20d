// The verdict for a pull request.
#include <fmt/format.h>

#include <cctype>

#include "analyzer/gate/verdict_outputs.h"
#include "analyzer/gate/verdict_words.h"
#include "analyzer/report/unicode.h"
#include "base/counts.h"

namespace lockstep::analyzer {
namespace {

// Names come from programs: nothing in them may end a cell, or begin markup.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '|' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

// A command to copy. What would end the code, or the line, does not stand in it.
std::string code(const std::string& text) {
  std::string safe = printable(text);
  std::erase(safe, '`');
  return "`" + safe + "`";
}

const char* mark_of(const std::string& state) {
  if (state == "worse" || state == "missing") return "❌ ";
  return state == "undecided" || state == "not compared" ? "❓ " : "✅ ";
}

}  // namespace

std::string to_markdown(const Verdict& verdict, const VerdictContext& context) {
  const char* const mark = verdict.outcome == Outcome::fail   ? "❌"
                           : verdict.outcome == Outcome::pass ? "✅"
                                                              : "❓";
  std::string text = fmt::format("### {} Lockstep: {}\n\n", mark, cell(headline(verdict)));
  text += "| figure | runs | baseline | change | limit | verdict |\n|---|--:|--:|--:|--:|---|\n";
  for (const FigureVerdict& figure : verdict.figures) {
    const std::string state = state_text(figure), reason = reason_text(figure);
    text += fmt::format("| {} | {} | {} | {} | {} | {}{}{} |\n", cell(figure.rule.name()),
                        cell(value_text(figure, figure.head)), cell(value_text(figure, figure.base)),
                        cell(change_text(figure)), cell(limit_text(figure)), mark_of(state), state,
                        reason.empty() ? "" : ": " + cell(reason));
  }
  text += "\n";
  if (const std::string step = step_text(verdict); !step.empty()) {
    text += fmt::format("**{}{}**\n\n", static_cast<char>(std::toupper(static_cast<unsigned char>(step[0]))),
                        cell(step.substr(1)));
    if (!context.diff_command.empty())
      text += fmt::format("Ranks, collectives and layers: {}\n\n", code(context.diff_command));
  }
  for (const std::string& warning : verdict.warnings) text += fmt::format("> ⚠ {}\n\n", cell(warning));
  text += fmt::format("{}{}; {}: a healthy change fails in at most {:g} % of cases.\n",
                      format_plural(context.head_runs, "run"),
                      context.base_runs > 0
                          ? fmt::format(" against {} of {}", context.base_runs, cell(context.baseline))
                          : "",
                      cell(context.policy), context.false_alarms * 100);
  return text;
}

}  // namespace lockstep::analyzer
