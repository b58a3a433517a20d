// Copies that nothing hides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// 100 of 900 µs are copies under which nothing else runs; 100 more are hidden by compute.
TEST(Findings, CopiesThatNothingHides) {
  JobBuilder job;
  job.rank(0).compute(0, 500 * us).launched(-2, -1).copy(400 * us, 600 * us).launched(0, 1);
  job.rank(0).compute(600 * us, 900 * us).launched(0, 1);
  const Finding copies = finding(report_of(job), "exposed_copies");
  EXPECT_EQ(copies.lost_ns, 100 * us);
  EXPECT_THAT(copies.remedy, HasSubstr("non_blocking=True"));
  EXPECT_EQ(copies.cause, Cause::copy);
  JobBuilder hidden;
  hidden.rank(0).compute(0, 900 * us).launched(-2, -1).copy(400 * us, 600 * us).launched(0, 1);
  EXPECT_THAT(codes_of(report_of(hidden).findings), Not(Contains("exposed_copies")));
}

}  // namespace
}  // namespace lockstep::analyzer
