// Communication and compute that take turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/bucketed_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;

TEST(Findings, NothingHiddenAtAll) {
  const Report report = report_of(bucketed_job(8, 10 << 20, 1000 * us, 1 << 20, 110 * us));
  EXPECT_THAT(codes_of(report.findings), Contains("no_overlap"));
  EXPECT_EQ(finding(report, "no_overlap").lost_ns, 2 * 3 * 7110 * us);
}

}  // namespace
}  // namespace lockstep::analyzer
