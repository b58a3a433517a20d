#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/report/sample_reports.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

// A figure, whoever is accused.
TEST(TextRanks, BelowTheTableStandsWhoIsReadyLater) {
  Report report = small_report();
  report.lateness.can_tell = true;
  report.lateness.steps = 40;
  report.lateness.step_ns = 10'000'000;
  report.lateness.ranks = {{.rank = 0, .mean_ns = -1'000'000},
                           {.rank = 1, .mean_ns = 9'999},  // less than a thousandth of a step
                           {.rank = 2, .mean_ns = 1'250'000}};
  const std::string text = text_of(report, 160);
  const std::size_t at =
      text.find("ready later than the median of the others, mean of 40 steps: rank 2 by 1.25 ms (12.5 %)\n");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_GT(at, text.find("ranks —"));
  EXPECT_LT(at, text.find("steps —"));
  // The latest first.
  report.lateness.ranks[1].mean_ns = 2'500'000;
  EXPECT_THAT(text_of(report, 160),
              HasSubstr("mean of 40 steps: rank 1 by 2.50 ms (25.0 %), rank 2 by 1.25 ms (12.5 %)\n"));
  report.lateness.can_tell = false;
  EXPECT_THAT(text_of(report, 160), Not(HasSubstr("ready later")));
}

}  // namespace
}  // namespace lockstep::analyzer
