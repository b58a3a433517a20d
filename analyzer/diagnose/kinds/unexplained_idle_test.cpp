// Gaps of which nobody knows why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

// What ends the gap was launched, nobody knows when: neither the host nor a stream is accused.
TEST(Findings, AGapBeforeALaunchThatNobodyKnows) {
  JobBuilder job;
  job.rank(0).compute(0, 300 * us).compute(500 * us, 900 * us);
  job.rank(0).trace().device = "cuda:0";
  const Report report = report_of(job);
  EXPECT_EQ(codes_of(report.findings), std::vector<std::string>{"unexplained_idle"});
  EXPECT_EQ(finding(report, "unexplained_idle").lost_ns, 200 * us);
}

}  // namespace
}  // namespace lockstep::analyzer
