#include "analyzer/report/all_clear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string why_not(const Report& report) {
  const std::optional<NoAllClear> reason = why_no_all_clear(report);
  return reason ? reason->sentence() : "";
}

// As dumps in which no operation has a begin and an end: their ranks are there, and have no figures.
Report without_figures() {
  Report report = small_report();
  for (RankReport& rank : report.ranks) {
    rank.measures = {};
    rank.measures.known = false;
  }
  return report;
}

TEST(AllClear, AReportWithFiguresOfEveryRankMayGiveOne) {
  Report report = small_report();
  EXPECT_EQ(why_not(report), "");
  report.findings.clear();
  EXPECT_EQ(why_not(report), "");
}

TEST(AllClear, DumpsOfFlightRecordersGiveNone) {
  Report report = small_report();
  report.dumps = Dumps::all;
  EXPECT_EQ(why_not(report),
            "Flight recorders tell of communication alone: what ranks computed beside it, and what costs "
            "their time, is not known.");
  report.dumps = Dumps::some;
  EXPECT_EQ(why_not(report), "");
}

TEST(AllClear, DumpsWithoutTimesAreSaidToBeSo) {
  Report report = without_figures();
  report.dumps = Dumps::all;
  report.warnings = {{"order_only", "there are no figures", kNoRank}};
  EXPECT_THAT(why_not(report), StartsWith("No times were recorded: a flight recorder tells the order"));
}

TEST(AllClear, WhereNothingIsMeasuredTheReasonIsThatOfTheVerdict) {
  EXPECT_EQ(why_not(Report{}), "No rank could be analysed.");
  Report report = without_figures();
  EXPECT_THAT(why_not(report), StartsWith("No device activity found: "));
  report.ranks[1].damaged = true;
  EXPECT_THAT(why_not(report), StartsWith("Nothing measurable was recorded, or is left: "));
  report.warnings = {{"nothing_recorded", "", kNoRank}};
  EXPECT_THAT(why_not(report), StartsWith("Nothing was recorded: "));
}

TEST(AllClear, ARankWithoutFiguresIsNamed) {
  Report report = small_report();
  report.ranks[1].measures.known = false;
  EXPECT_EQ(why_not(report), "There are no figures of rank 1: what costs it time is not known.");
  report.ranks[2].measures.known = false;
  EXPECT_THAT(why_not(report), HasSubstr("ranks 1 and 2: what costs them time"));
}

}  // namespace
}  // namespace lockstep::analyzer
