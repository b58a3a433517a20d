#include "analyzer/gate/verdict_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/gate/sample_verdicts.h"
#include "analyzer/gate/verdict_words.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(VerdictWords, EveryBoundIsPrintedResolved) {
  const Verdict verdict = one_of_each();
  EXPECT_EQ(limit_text(verdict.figures[0]), "412 ms = 400 ms + 3 %");
  EXPECT_EQ(change_text(verdict.figures[0]), "+10.0 %");
  EXPECT_EQ(value_text(verdict.figures[0], verdict.figures[0].head), "440 ms ± 1.00 ms");
  EXPECT_EQ(limit_text(verdict.figures[2]), "58.2 % = 60.0 % - 3 %");
  EXPECT_EQ(change_text(verdict.figures[2]), "-2.0 points");
  EXPECT_EQ(limit_text(verdict.figures[3]), "–");
  FigureVerdict bound = verdict.figures[0];
  bound.rule.bound = 0;
  bound.rule.tolerance = {.relative = 0, .floor = 1e6};
  bound.limit = 1e6;
  EXPECT_EQ(limit_text(bound), "1.00 ms = 0 + 1.00 ms");
  bound.rule.tolerance = {};
  bound.rule.bound = 500e6;
  bound.limit = 500e6;
  EXPECT_EQ(limit_text(bound), "500 ms");
}

TEST(VerdictWords, SayWhatToDo) {
  Verdict verdict = one_of_each();
  EXPECT_EQ(headline(verdict), "1 of 6 figures is worse than allowed: step_time");
  EXPECT_EQ(reason_text(verdict.figures[2]), "4 more runs of each side would decide it, 9 times in 10");
  verdict.figures[2].runs_needed = 1;
  EXPECT_EQ(reason_text(verdict.figures[2]), "1 more run of each side would decide it, 9 times in 10");
  verdict.figures[2].runs_needed.reset();
  EXPECT_EQ(
      reason_text(verdict.figures[2]),
      "runs differ by more than what is to be decided: 100 further ones of each side would not settle it; a quieter machine, or a larger tolerance, would");
  verdict.figures[2].chance.reset();
  EXPECT_THAT(reason_text(verdict.figures[2]), HasSubstr("give two or more"));
  EXPECT_EQ(reason_text(verdict.figures[4]), "expected until 2026-12-31: smaller buckets & more");
  verdict.figures[4].expired = std::exchange(verdict.figures[4].expected, std::nullopt);
  EXPECT_EQ(state_text(verdict.figures[4]), "worse");
  EXPECT_EQ(reason_text(verdict.figures[4]),
            "it was expected until 2026-12-31 (smaller buckets & more), and that has expired");
  std::swap(verdict.figures[4].expired, verdict.figures[4].expected);
  EXPECT_EQ(state_text(verdict.figures[5]), "better");
  verdict.figures.erase(verdict.figures.begin());
  EXPECT_THAT(headline(verdict), HasSubstr("1 of 5 figures is missing: busbw of group"));
  verdict.outcome = Outcome::undecided;
  EXPECT_EQ(headline(verdict), "1 of 5 figures is undecided: overlap_ratio");
  verdict.outcome = Outcome::pass;
  EXPECT_EQ(headline(verdict),
            "1 of 5 figures is expected not to be within its limit: transfer; the others are");
  verdict.figures[3].expected.reset();
  EXPECT_EQ(headline(verdict), "all 5 figures are within their limits");
}

TEST(VerdictOutputs, WithoutABaselineYetNothingIsGreen) {
  Verdict verdict = one_of_each();
  verdict.outcome = Outcome::not_compared;
  verdict.figures.resize(2);
  verdict.figures[0].zone = Zone::undecided;
  verdict.figures[0].uncompared = true;
  EXPECT_EQ(headline(verdict), "1 of 2 figures is not compared: step_time; there is no baseline yet");
  EXPECT_EQ(limit_text(verdict.figures[0]), "–");
  EXPECT_EQ(change_text(verdict.figures[0]), "–");
  const nlohmann::ordered_json json = to_json(verdict, sample_context());
  EXPECT_EQ(json["outcome"], "not_compared");
  EXPECT_EQ(json["figures"][0]["state"], "not compared");
  EXPECT_TRUE(json["figures"][0]["limit"].is_null());
  EXPECT_THAT(to_text(verdict, sample_context(), {.width = 120}), HasSubstr("NOT COMPARED — 1 of 2"));
  EXPECT_THAT(to_markdown(verdict, sample_context()), HasSubstr("### ❓ Lockstep: 1 of 2"));
  EXPECT_THAT(to_junit(verdict, sample_context()), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  verdict.figures.resize(1);
  EXPECT_EQ(headline(verdict), "nothing was compared: there is no baseline yet");
}

TEST(VerdictWords, SayWhatBecameOfTheStep) {
  Verdict verdict = one_of_each();
  EXPECT_EQ(
      step_text(verdict),
      "a step takes 40.0 ms longer in the mean: barrier wait +38.0 ms, compute -5.00 ms, transfer +7.00 ms")
      << "in the order that they have, and without what is a tenth of the greatest";
  verdict.step->causes[2].head_ns -= 40e6;
  verdict.step->head_ns -= 40e6;
  EXPECT_EQ(step_text(verdict),
            "a step takes as long in the mean: barrier wait +38.0 ms, compute -5.00 ms, transfer -33.0 ms");
  for (FigureVerdict& figure : verdict.figures) {
    figure.zone = Zone::within;
    figure.is_better = false;
  }
  EXPECT_EQ(step_text(verdict), "") << "nothing has changed by what matters";
  verdict = one_of_each();
  verdict.step.reset();
  EXPECT_EQ(step_text(verdict), "");
}

TEST(VerdictOutputs, Text) {
  const std::string text = to_text(one_of_each(), sample_context(), {.width = 120});
  EXPECT_THAT(text, HasSubstr("FAIL — 1 of 6 figures is worse than allowed: step_time\n"));
  EXPECT_THAT(text, HasSubstr("412 ms = 400 ms + 3 %  worse\n"));
  EXPECT_THAT(text, HasSubstr("overlap_ratio: 4 more runs of each side would decide it, 9 times in 10"));
  EXPECT_THAT(text, HasSubstr("  a step takes 40.0 ms longer in the mean: barrier wait +38.0 ms"));
  EXPECT_THAT(text, HasSubstr("  ranks, collectives and layers: lockstep diff old --to new\n"));
  EXPECT_THAT(text, HasSubstr("warning: the runs are of 2 ranks"));
  EXPECT_THAT(
      text,
      HasSubstr("3 runs against 3 of main.json; gate.toml: a healthy change fails in at most 1 % of cases"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(VerdictOutputs, Json) {
  const nlohmann::ordered_json json = to_json(one_of_each(), sample_context());
  EXPECT_EQ(json["schema"], "lockstep.check/1");
  EXPECT_EQ(json["outcome"], "fail");
  ASSERT_EQ(json["figures"].size(), 6U);
  EXPECT_EQ(json["figures"][0]["state"], "worse");
  EXPECT_EQ(json["figures"][0]["unit"], "ns");
  EXPECT_EQ(json["figures"][0]["head"]["mean"], 440e6);
  EXPECT_EQ(json["figures"][0]["limit"], 412e6);
  EXPECT_EQ(json["figures"][2]["runs_needed"], 4);
  EXPECT_EQ(json["step"]["head_ns"], 440e6);
  EXPECT_EQ(json["step"]["causes"][0]["cause"], "barrier_wait");
  EXPECT_EQ(json["step"]["causes"][0]["head_ns"], 48e6);
  EXPECT_TRUE(json["figures"][3]["limit"].is_null());
  EXPECT_TRUE(json["figures"][3]["head"].is_null());
}

TEST(VerdictOutputs, MarkdownKeepsItsTable) {
  const std::string text = to_markdown(one_of_each(), sample_context());
  EXPECT_THAT(text, HasSubstr("### ❌ Lockstep: 1 of 6 figures is worse than allowed: step\\_time\n"));
  EXPECT_THAT(text, HasSubstr("| busbw of group \\<a\\|b>"));
  EXPECT_THAT(text, HasSubstr("**A step takes 40.0 ms longer in the mean: barrier wait +38.0 ms"));
  EXPECT_THAT(text, HasSubstr("`lockstep diff old --to new`"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  // Every row of the table has six cells.
  std::size_t rows = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty() || line[0] != '|') continue;
    ++rows;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    EXPECT_EQ(bars, 7U) << line;
  }
  EXPECT_EQ(rows, 8U);
}

TEST(VerdictOutputs, JUnitFailsWhatFails) {
  VerdictContext context = sample_context();
  context.undecided_fails = false;
  const std::string text = to_junit(one_of_each(), context);
  EXPECT_THAT(
      text, HasSubstr("<testsuite name=\"gate.toml\" tests=\"6\" failures=\"2\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(
      text,
      HasSubstr(
          "<failure message=\"worse: 440 ms ± 1.00 ms, limit 412 ms = 400 ms + 3 %\" type=\"regression\"/>"));
  EXPECT_THAT(text, HasSubstr("name=\"busbw of group &lt;a|b&gt;"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(to_junit(one_of_each(), sample_context()),
              HasSubstr("failures=\"3\" errors=\"0\" skipped=\"0\""));
}

// The names of the elements in `xml`, in order: "testsuites", …, "/testsuites"; "testcase/" of one without
// children.
std::vector<std::string> elements_of(const std::string& xml) {
  std::vector<std::string> names;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    if (xml[at + 1] == '?') continue;
    const std::size_t end = xml.find('>', at);
    const std::string name = xml.substr(at + 1, xml.find_first_of(" />", at + 2) - at - 1);
    names.push_back(xml[end - 1] == '/' ? name + "/" : name);
  }
  return names;
}

// The first such element, from its name to its end.
std::string tag_of(const std::string& xml, const std::string& name) {
  const std::size_t begin = xml.find("<" + name + " ");
  return begin == std::string::npos ? "" : xml.substr(begin, xml.find('>', begin) - begin);
}

// As the schema of Ant's JUnit tasks has it, which ReFrame-HPC holds its own reports to.
TEST(VerdictOutputs, JUnitHasAllThatTheSchemaAsksFor) {
  VerdictContext context = sample_context();
  context.time = "2026-11-28T01:21:54Z";
  context.host = "node<7>";
  Verdict verdict = one_of_each();
  verdict.figures[3].rule.scope += "\xEF\xBF\xBF";
  const std::string text = to_junit(verdict, context);
  EXPECT_THAT(
      elements_of(text),
      ElementsAre("testsuites", "testsuite", "properties", "property/", "property/", "property/", "property/",
                  "property/", "/properties", "testcase", "failure/", "/testcase", "testcase/", "testcase",
                  "failure/", "/testcase", "testcase", "failure/", "/testcase", "testcase/", "testcase/",
                  "system-out", "/system-out", "system-err", "/system-err", "/testsuite", "/testsuites"));
  const std::string suite = tag_of(text, "testsuite");
  for (const char* attribute : {"name=\"gate.toml\"", "tests=\"6\"", "failures=\"3\"", "errors=\"0\"",
                                "skipped=\"0\"", "time=\"0\"", "timestamp=\"2026-11-28T01:21:54\"",
                                "hostname=\"node&lt;7&gt;\"", "id=\"0\"", "package=\"lockstep.check\""})
    EXPECT_THAT(suite, HasSubstr(std::string(" ") + attribute));
  for (const char* attribute : {"name=\"step_time\"", "classname=\"lockstep.check\"", "time=\"0\""})
    EXPECT_THAT(tag_of(text, "testcase"), HasSubstr(std::string(" ") + attribute));
  for (const char* attribute : {"message=\"worse: ", "type=\"regression\""})
    EXPECT_THAT(tag_of(text, "failure"), HasSubstr(std::string(" ") + attribute));
  EXPECT_THAT(text, HasSubstr("<system-out>1 of 6 figures is worse than allowed: step_time\n"));
  EXPECT_THAT(text, HasSubstr("<system-err>warning: the runs are of 2 ranks\n</system-err>"));
  EXPECT_THAT(text, Not(HasSubstr("\xEF\xBF\xBF"))) << "no character of XML";
  context.host = "";
  EXPECT_THAT(to_junit(verdict, context), HasSubstr(" hostname=\"localhost\""));
}

}  // namespace
}  // namespace lockstep::analyzer
