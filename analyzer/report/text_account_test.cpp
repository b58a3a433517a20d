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
}

TEST(TextAccount, OfTwoRanksTheOtherOneWaits) {
  Report report = small_report();
  report.ranks_present = {0, 1};
  report.account = account_of_ranks(2);
  report.account.late_start = LateStart{1, 5'000'000'000};
  EXPECT_THAT(text_of(report, 400), HasSubstr("In start-up the other rank waited 5.00 s for rank 1: "));
}

}  // namespace
}  // namespace lockstep::analyzer
