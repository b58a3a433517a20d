// Devices, and ranks on CPUs, that idle because of their host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

TEST(Findings, HostBoundOnlyWhereTheDeviceIsNotTheHost) {
  for (const std::string device : {"cuda:0", "cpu"}) {
    JobBuilder job;
    job.rank(0)
        .compute(0, 100 * us)
        .launched(-2, -1)
        .compute(300 * us, 900 * us)
        .launched(299 * us, 300 * us);
    job.rank(0).trace().device = device;
    EXPECT_EQ(codes_of(report_of(job).findings),
              std::vector<std::string>{device == "cpu" ? "idle_between_computations" : "host_bound"});
  }
}

// Two gaps that a late launch ends, and a short one of which nobody knows: one in three is too many to blame
// the host.
TEST(Findings, TooFewLaunchesToBlameTheHost) {
  JobBuilder job;
  job.rank(0).compute(0, 100 * us).launched(-2, -1);
  job.rank(0).compute(300 * us, 500 * us).launched(299 * us, 300 * us);
  job.rank(0).compute(700 * us, 800 * us).launched(699 * us, 700 * us);
  job.rank(0).compute(801 * us, 900 * us);
  job.rank(0).trace().device = "cuda:0";
  const Report report = report_of(job);
  EXPECT_EQ(codes_of(report.findings), std::vector<std::string>{"idle_without_launches"});
  EXPECT_EQ(finding(report, "idle_without_launches").lost_ns, 400 * us);
}

// Of what no operation shows, the step is the place.
TEST(Findings, APlaceOfIdlingIsTheStepWithMostOfIt) {
  JobBuilder job;
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds begin = step * 1000 * us, idle = (step == 1 ? 400 : 200) * us;
    job.rank(0).step(step + 1, begin, begin + 1000 * us);
    job.rank(0)
        .compute(begin, begin + 300 * us)
        .launched(begin, begin + 1)
        .in_step(static_cast<std::uint32_t>(step));
    job.rank(0)
        .compute(begin + 300 * us + idle, begin + 990 * us)
        .launched(begin + 299 * us + idle, begin + 300 * us + idle)
        .in_step(static_cast<std::uint32_t>(step));
  }
  job.rank(0).trace().device = "cuda:0";
  const Finding idle = finding(report_of(job), "host_bound");
  ASSERT_TRUE(idle.place);
  EXPECT_EQ(idle.rank, std::nullopt);
  EXPECT_EQ(idle.place->step, 2);
  EXPECT_EQ(idle.place->collective, std::nullopt);
}

}  // namespace
}  // namespace lockstep::analyzer
