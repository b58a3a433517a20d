// Findings about devices and ranks that idle, copy or load data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Findings, DataLoading) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 100 * us).launched(-2, -1).data_loading(100 * us, 200 * us);
    job.rank(rank).compute(200 * us, 900 * us).launched(199 * us, 200 * us);
  }
  const Finding loading = finding(report_of(job), "data_loading");
  EXPECT_EQ(loading.lost_ns, 2 * 100 * us);
  EXPECT_EQ(loading.severity, "high");  // 200 of 1800 µs
  EXPECT_THAT(loading.remedy, HasSubstr("num_workers"));
}

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

TEST(Findings, LaunchedWorkThatDoesNotStart) {
  JobBuilder job;
  job.rank(0).compute(0, 100 * us).launched(-2, -1).compute(300 * us, 900 * us).launched(1, 2);
  const Finding queued = finding(report_of(job), "queued");
  EXPECT_EQ(queued.lost_ns, 200 * us);
  EXPECT_THAT(queued.evidence, testing::ElementsAre("200 µs of 900 µs"));
}

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

// What ends the gap was launched, nobody knows when: neither the host nor a stream is accused.
TEST(Findings, AGapBeforeALaunchThatNobodyKnows) {
  JobBuilder job;
  job.rank(0).compute(0, 300 * us).compute(500 * us, 900 * us);
  job.rank(0).trace().device = "cuda:0";
  const Report report = report_of(job);
  EXPECT_EQ(codes_of(report.findings), std::vector<std::string>{"unexplained_idle"});
  EXPECT_EQ(finding(report, "unexplained_idle").lost_ns, 200 * us);
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
