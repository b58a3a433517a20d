// Where the wall time went, as a page draws it: of few ranks a bar each, of many how they differ.
#include <gmock/gmock.h>

#include <string>

#include "analyzer/html/test_browser.h"
#include "analyzer/report/palette.h"
#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

Report report_of(std::int32_t ranks) {
  Report report = wide_report(ranks);
  report.account = account_of_ranks(ranks);
  return report;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

std::string fill_of(Spending spending) {
  return fmt::format("fill=\"#{:06x}\"", style_of(spending).rgb);
}

TEST_F(Browser, TheAccountHasABarForTheRunAndForEachOfAFewRanks) {
  const std::string document = document_of(report_of(16));
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  const std::string account = section(document, "account");
  EXPECT_EQ(times(account, fill_of(Spending::start_up)), 17U);
  EXPECT_EQ(times(account, fill_of(Spending::steady)), 17U);
  EXPECT_EQ(times(account, fill_of(Spending::checkpoint)), 2U) << "of the run, and of rank 15";
  EXPECT_THAT(words(account), HasSubstr("start-up 8.5 %"));
  EXPECT_THAT(words(account), Not(HasSubstr("median")));
}

TEST_F(Browser, TheAccountOfManyRanksSaysHowTheyDiffer) {
  const std::string document = document_of(report_of(40));
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  const std::string account = section(document, "account");
  const std::string text = words(account);
  EXPECT_THAT(text, HasSubstr("Over the 40 ranks"));
  EXPECT_THAT(text, HasSubstr("least median most start-up 1.00 s (rank 0) 20.0 s 40.0 s (rank 39)"));
  EXPECT_THAT(text, HasSubstr("steady steps 50.0 s (rank 39) 79.0 s 99.0 s (rank 0)"));
  EXPECT_THAT(text, HasSubstr("checkpoint 0 0 10.0 s (rank 39)"));
  // The run, and the two ranks at the ends.
  EXPECT_EQ(times(account, fill_of(Spending::steady)), 3U);
  EXPECT_THAT(text, HasSubstr(" 0 least start-up, most steady steps"));
  EXPECT_THAT(text, HasSubstr(" 39 most start-up, least steady steps, most checkpoint"));
}

TEST_F(Browser, TheAccountOfThousandsOfRanksIsAsSmall) {
  const std::string account = section(document_of(report_of(4096)), "account");
  EXPECT_THAT(words(account), HasSubstr("Over the 4,096 ranks"));
  EXPECT_LT(times(account, "<tr"), 20U);
}

}  // namespace
}  // namespace lockstep::analyzer
