// The verdict as a test report, which every CI system shows.
#include <fmt/format.h>

#include "analyzer/gate/verdict_outputs.h"
#include "analyzer/gate/verdict_words.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

enum class Result { passed, failed, skipped };

Result result_of(const FigureVerdict& figure, bool undecided_fails) {
  const std::string state = state_text(figure);
  if (state == "worse" || state == "missing") return Result::failed;
  if (state == "not compared") return Result::skipped;
  if (state != "undecided") return Result::passed;
  return undecided_fails ? Result::failed : Result::skipped;
}

}  // namespace

std::string to_junit(const Verdict& verdict, const VerdictContext& context) {
  std::size_t failures = 0, skipped = 0;
  std::string cases;
  for (const FigureVerdict& figure : verdict.figures) {
    const Result result = result_of(figure, context.undecided_fails);
    failures += result == Result::failed ? 1 : 0;
    skipped += result == Result::skipped ? 1 : 0;
    cases += fmt::format("    <testcase classname=\"lockstep.check\" name=\"{}\" time=\"0\"",
                         escaped(figure.rule.name()));
    if (result == Result::passed) {
      cases += "/>\n";
      continue;
    }
    const std::string reason = reason_text(figure);
    const std::string message =
        fmt::format("{}: {}, limit {}{}", state_text(figure), value_text(figure, figure.head),
                    limit_text(figure), reason.empty() ? "" : "; " + reason);
    cases += fmt::format(">\n      <{} message=\"{}\"{}/>\n    </testcase>\n",
                         result == Result::failed ? "failure" : "skipped", escaped(message),
                         result == Result::failed ? " type=\"regression\"" : "");
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"lockstep check\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" "
      "time=\"0\">\n  <testsuite name=\"{3}\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" skipped=\"{2}\" time=\"0\">\n{4}  "
      "</testsuite>\n</testsuites>\n",
      verdict.figures.size(), failures, skipped, escaped(context.policy), cases);
}

}  // namespace lockstep::analyzer
