// The verdict as a test report, which every CI system shows. Of its many dialects the schema of Ant's JUnit
// tasks is the strictest (PyPI's ReFrame-HPC has it as schemas/junit.xsd): no attributes of <testsuites>, and
// in a suite properties, cases, output and errors, in this order and each of them there.
#include <fmt/format.h>

#include "analyzer/gate/verdict_outputs.h"
#include "analyzer/gate/verdict_words.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

// For an attribute or between tags.
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
  // U+FFFE and U+FFFF are characters of UTF-8, and none of XML.
  for (const char* const none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (std::size_t at = safe.find(none); at != std::string::npos; at = safe.find(none, at))
      safe.replace(at, 3, "\xEF\xBF\xBD");
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

std::string property(const char* name, const std::string& value) {
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, escaped(value));
}

std::string test_case(const FigureVerdict& figure, Result result) {
  const std::string begin = fmt::format("    <testcase name=\"{}\" classname=\"lockstep.check\" time=\"0\"",
                                        escaped(figure.rule.name()));
  if (result == Result::passed) return begin + "/>\n";
  const std::string reason = reason_text(figure), state = state_text(figure);
  const std::string message = fmt::format("{}: {}, limit {}{}", state, value_text(figure, figure.head),
                                          limit_text(figure), reason.empty() ? "" : "; " + reason);
  return begin +
         (result == Result::skipped
              ? fmt::format(">\n      <skipped message=\"{}\"/>\n", escaped(message))
              : fmt::format(">\n      <failure message=\"{}\" type=\"{}\"/>\n", escaped(message),
                            state == "worse" ? "regression" : state)) +
         "    </testcase>\n";
}

// What stands beside the figures, for who looks at the suite.
std::string output_of(const Verdict& verdict, const VerdictContext& context) {
  std::string text = escaped(headline(verdict)) + "\n";
  if (const std::string step = step_text(verdict); !step.empty()) {
    text += escaped(step) + "\n";
    if (!context.diff_command.empty()) text += escaped(context.diff_command) + "\n";
  }
  return text;
}

}  // namespace

std::string to_junit(const Verdict& verdict, const VerdictContext& context) {
  constexpr std::size_t kWithoutZone = 19;  // "2026-11-28T01:21:54"
  std::size_t failures = 0, skipped = 0;
  std::string cases;
  for (const FigureVerdict& figure : verdict.figures) {
    const Result result = result_of(figure, context.undecided_fails);
    failures += result == Result::failed ? 1 : 0;
    skipped += result == Result::skipped ? 1 : 0;
    cases += test_case(figure, result);
  }
  std::string warnings;
  for (const std::string& warning : verdict.warnings) warnings += escaped("warning: " + warning) + "\n";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" +
         fmt::format(
             "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\" "
             "timestamp=\"{}\" hostname=\"{}\" id=\"0\" package=\"lockstep.check\">\n",
             escaped(context.policy), verdict.figures.size(), failures, skipped,
             escaped(context.time.substr(0, kWithoutZone)),
             escaped(context.host.empty() ? "localhost" : context.host)) +
         "    <properties>\n" + property("outcome", to_string(verdict.outcome)) +
         property("baseline", context.baseline) + property("runs", fmt::format("{}", context.head_runs)) +
         property("baseline_runs", fmt::format("{}", context.base_runs)) +
         property("false_alarms", fmt::format("{:g}", context.false_alarms)) + "    </properties>\n" + cases +
         "    <system-out>" + output_of(verdict, context) + "</system-out>\n    <system-err>" + warnings +
         "</system-err>\n  </testsuite>\n</testsuites>\n";
}

}  // namespace lockstep::analyzer
