// Where the wall time went, in sentences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TextAccount, NamesWhomTheOthersWaitForAtTheStart) {
  Report report = small_report();
  report.account = account_of_ranks(static_cast<std::int32_t>(report.ranks_present.size()));
  EXPECT_THAT(text_of(report, 400), Not(HasSubstr("In start-up")));
  report.account.late_start = LateStart{2, 5'000'000'000};
  EXPECT_THAT(text_of(report, 400),
              HasSubstr("In start-up the others (their mean) waited 5.00 s for rank 2: look at "
                        "what it does until its first step."));
  Finding cores;
  cores.topic = Topic::short_cores;
  report.findings = {cores};
  EXPECT_THAT(text_of(report, 400), HasSubstr("waited 5.00 s for rank 2: it may have waited for a core"));
}

// A parameter server's workers: goodput is not theirs.
TEST(TextAccount, SaysWhatIsCountedOfRanksWithoutSteps) {
  Report report = small_report();
  report.account = account_of_ranks(3);
  for (RankAccount& rank : report.account.ranks) rank.spent[Spending::steady] = 1'000'000'000;
  EXPECT_THAT(text_of(report, 400), Not(HasSubstr("without steps of")));
  for (const std::size_t worker : {1U, 2U}) {
    Account& spent = report.account.ranks[worker].spent;
    spent[Spending::other] = spent[Spending::steady];
    spent[Spending::warm_up] = spent[Spending::steady] = 0;
  }
  EXPECT_THAT(text_of(report, 400),
              HasSubstr(" What ranks 1 and 2 do, without steps of their own, is other: 2.00 s."));
}

// Seen of dumps of flight recorders, whose clocks are put beside each other: "not recorded 0 (< 0.1 %)".
TEST(TextAccount, LeavesOutWhatIsLessThanANanosecondOfARank) {
  Report report = small_report();
  report.account = account_of_ranks(3);
  report.account.spent[Spending::not_recorded] = 1;
  EXPECT_THAT(account_lines(report)[0], Not(HasSubstr("not recorded")));
  report.account.spent[Spending::not_recorded] = 6'000'000;
  EXPECT_THAT(account_lines(report)[0], HasSubstr("not recorded 2.00 ms (< 0.1 %)"));
}

TEST(TextAccount, OfTwoRanksTheOtherOneWaits) {
  Report report = small_report();
  report.ranks_present = {0, 1};
  report.account = account_of_ranks(2);
  report.account.late_start = LateStart{1, 5'000'000'000};
  EXPECT_THAT(text_of(report, 400), HasSubstr("In start-up the other rank waited 5.00 s for rank 1: "));
}

TEST(TextAccount, SaysForHowLongCheckpointsWereWrittenBesideTraining) {
  Report report = small_report();
  report.account = account_of_ranks(2);
  EXPECT_THAT(text_of(report, 400), Not(HasSubstr("Checkpoints were written")));
  report.account.ranks[0].checkpoint_beside_ns = 1'000'000'000;
  report.account.ranks[1].checkpoint_beside_ns = 2'000'000'000;
  for (RankAccount& rank : report.account.ranks) rank.spent[Spending::after_failure] = 0;
  EXPECT_THAT(text_of(report, 400),
              HasSubstr("Checkpoints were written for 2.00 s beside all this, on the rank that did most."));
  report.account.ranks[1].spent[Spending::after_failure] = 90'000'000'000;
  EXPECT_THAT(
      text_of(report, 400),
      HasSubstr("Checkpoints were written for 2.00 s beside all this, on the rank that did most, before "
                "it hung or waited for the job's end."));
}

}  // namespace
}  // namespace lockstep::analyzer
