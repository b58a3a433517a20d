// What is said where start-up lies within the steps that a report is over.
#include "analyzer/report/start_up_in_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/report/sample_reports.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two ranks of one step each, of which `start_up` ms of 100 ms are start-up by the account.
Report report_of_one_step(std::int64_t start_up) {
  constexpr std::int64_t kMs = 1'000'000;
  Report report = small_report();
  report.steady.reset();
  report.warnings = {{"no_steady_steps", "1 step: too few", kNoRank}};
  report.ranks.resize(2);
  report.ranks_present = {0, 1};
  report.account = account_of_ranks(2);
  report.account.spent = {};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    report.ranks[rank].measures.window_ns = 100 * kMs;
    Account& spent = report.account.ranks[rank].spent;
    spent = {};
    spent[Spending::start_up] = 900 * kMs + start_up * kMs;
    spent[Spending::steady] = (100 - start_up) * kMs;
    for (std::size_t i = 0; i < kSpendingCount; ++i) report.account.spent.ns[i] += spent.ns[i];
  }
  return report;
}

TEST(StartUpInSteps, IsWhatTheAccountDoesNotCountAsSteps) {
  EXPECT_EQ(start_up_in_steps_ns(report_of_one_step(60)), 60'000'000);
  EXPECT_EQ(start_up_in_steps_ns(report_of_one_step(4)), 0) << "not worth a word";
  Report steady = report_of_one_step(60);
  steady.warnings.clear();
  EXPECT_EQ(start_up_in_steps_ns(steady), 0) << "steady training leaves it out";
}

// A checkpoint within the step is counted apart, and is no start-up.
TEST(StartUpInSteps, OtherPhasesAreNotStartUp) {
  Report report = report_of_one_step(60);
  for (RankAccount& rank : report.account.ranks) {
    rank.spent[Spending::checkpoint] = 60'000'000;
    rank.spent[Spending::start_up] -= 60'000'000;
  }
  EXPECT_EQ(start_up_in_steps_ns(report), 0);
}

TEST(StartUpInSteps, TheAccountAndTheHeadlineSayThatItIsCounted) {
  const std::string text = text_of(report_of_one_step(60), 400);
  EXPECT_THAT(
      text,
      HasSubstr("all are counted as such, and below start-up within them is counted, too (60.0 ms, mean "
                "of the ranks)."));
  EXPECT_THAT(text, HasSubstr(" %, start-up within these steps included)"));
  EXPECT_THAT(text_of(report_of_one_step(0), 400), Not(HasSubstr("start-up within")));
}

}  // namespace
}  // namespace lockstep::analyzer
