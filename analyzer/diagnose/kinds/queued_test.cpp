// Work that was launched and does not start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

TEST(Findings, LaunchedWorkThatDoesNotStart) {
  JobBuilder job;
  job.rank(0).compute(0, 100 * us).launched(-2, -1).compute(300 * us, 900 * us).launched(1, 2);
  const Finding queued = finding(report_of(job), "queued");
  EXPECT_EQ(queued.title, "devices idle although their next work has been launched");
  EXPECT_EQ(queued.lost_ns, 200 * us);
  EXPECT_THAT(queued.evidence, testing::ElementsAre("200 µs of 900 µs"));
}

// There are no devices, and no streams to wait for.
TEST(Findings, LaunchedWorkThatDoesNotStartOnTheCpuHasNoAdviceAboutCuda) {
  JobBuilder job;
  job.rank(0).compute(0, 100 * us).launched(-2, -1).compute(300 * us, 900 * us).launched(1, 2);
  job.rank(0).trace().device = "cpu";
  const Finding queued = finding(report_of(job), "queued");
  EXPECT_EQ(queued.title, "ranks compute nothing although their next work has been issued");
  EXPECT_THAT(queued.remedy, testing::HasSubstr("the backend's threads"));
  EXPECT_THAT(queued.remedy, testing::Not(testing::HasSubstr("stream")));
  EXPECT_THAT(queued.remedy, testing::Not(testing::HasSubstr("CUDA")));
}

}  // namespace
}  // namespace lockstep::analyzer
