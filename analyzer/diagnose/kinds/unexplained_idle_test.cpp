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

// Time of a kernel that has a name is not without an explanation; what else is idle still is. What runs under
// compute was no part of it.
TEST(UnexplainedIdle, LeavesOutKernelsThatLookLikeCommunication) {
  JobBuilder job;
  job.rank(0).compute(0, 300 * us).unclassified(100 * us, 400 * us).compute(500 * us, 900 * us);
  job.rank(0).trace().device = "cuda:0";
  const Finding found = finding(report_of(job), "unexplained_idle");
  EXPECT_EQ(found.lost_ns, 100 * us);
  EXPECT_EQ(found.evidence.back(), "not counted: 100 µs of kernels that look like communication by name");
  JobBuilder graphs;  // of which nobody knows what they hold
  graphs.rank(0).compute(0, 300 * us).unclassified(300 * us, 500 * us).named("CUDA graph");
  graphs.rank(0).compute(500 * us, 900 * us);
  const Report report = report_of(graphs);
  EXPECT_EQ(finding(report, "unexplained_idle").lost_ns, 200 * us);
  ASSERT_THAT(codes_of(report.warnings), testing::Contains("unclassified"));
  for (const Warning& warning : report.warnings) {
    if (warning.code != "unclassified") continue;
    EXPECT_THAT(warning.message, testing::HasSubstr("rank 0: 1 device activity of unknown content"));
  }
}

}  // namespace
}  // namespace lockstep::analyzer
