// Which finding the verdict begins with, and what it says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

Finding found(const char* title, std::int64_t lost_ns, const char* severity = "high") {
  Finding finding;
  finding.code = "pipeline_bubble";
  finding.title = title;
  finding.lost_ns = lost_ns;
  finding.severity = severity;
  finding.is_note = finding.severity == "note";
  return finding;
}

std::string verdict_of(std::vector<Finding> findings) {
  Report report = small_report();
  report.findings = std::move(findings);
  return text_of(report, 400);
}

TEST(TextVerdict, BeginsWithWhatCostsMost) {
  EXPECT_THAT(verdict_of({found("one stage", 200), found("the bubble", 100)}),
              HasSubstr("Costs most: one stage ("));
}

TEST(TextVerdict, DoesNotSayThatItCostsMostOfWhatBringsAboutMore) {
  EXPECT_THAT(verdict_of({found("one stage", 100), found("the bubble", 200)}),
              HasSubstr("Start with this: one stage ("));
  Finding start_up = found("start-up", 300);
  start_up.share = Share::of_run;
  EXPECT_THAT(verdict_of({found("one stage", 100), start_up}), HasSubstr("Costs most: one stage ("));
}

TEST(TextVerdict, SaysWhereANoteCostsMore) {
  EXPECT_THAT(verdict_of({found("its schedule", 300, "note"), found("one stage", 100)}),
              HasSubstr("Costs most of what can be blamed: one stage ("));
  EXPECT_THAT(verdict_of({found("one stage", 100), found("its schedule", 300, "note")}),
              HasSubstr("Costs most of what can be blamed: one stage ("));
  EXPECT_THAT(verdict_of({found("one stage", 100), found("its schedule", 99, "note")}),
              HasSubstr("Costs most: one stage ("));
}

TEST(TextVerdict, OfAPartOfTheRanksSpeaksOfTheWholeJob) {
  Report report = small_report();
  report.some_ranks_only = true;
  report.findings = {found("one stage", 100), found("the bubble", 200)};
  EXPECT_THAT(text_of(report, 400), HasSubstr("In the whole job, start with this: one stage ("));
}

}  // namespace
}  // namespace lockstep::analyzer
