// Devices that idle because of their host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
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

// Two gaps that a late launch ends, and one of which nobody knows: more than a tenth of the time is too much
// to blame the host.
TEST(Findings, TooFewLaunchesToBlameTheHost) {
  JobBuilder job;
  job.rank(0).compute(0, 100 * us).launched(-2, -1);
  job.rank(0).compute(300 * us, 500 * us).launched(299 * us, 300 * us);
  job.rank(0).compute(700 * us, 800 * us).launched(699 * us, 700 * us);
  job.rank(0).compute(846 * us, 2000 * us);
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

TEST(Findings, WithoutStepsThePlaceOfIdlingIsItsLongestStretch) {
  JobBuilder job;
  for (const std::int32_t rank : {0, 1}) {
    Nanoseconds at = 1000 * us;
    for (const Nanoseconds idle : {100 * us, (rank == 1 ? 500 : 150) * us, 100 * us}) {
      job.rank(rank).compute(at, at + 200 * us).launched(at - 1, at);
      at += 200 * us + idle;
    }
    job.rank(rank).compute(at, at + 200 * us).launched(at - 1, at);
    job.rank(rank).trace().device = "cuda:0";
  }
  const Finding idle = finding(report_of(job), "host_bound");
  ASSERT_TRUE(idle.place);
  EXPECT_EQ(idle.place->rank, 1);
  EXPECT_EQ(idle.place->step, std::nullopt);
  EXPECT_EQ(idle.place->begin_ns, 500 * us) << "since the first activity";
  EXPECT_EQ(idle.place->end_ns, 1000 * us);
}

// Computes in 10 µs at each of these times; launched at their begins where `known`, else nobody knows when.
void compute_at(JobBuilder& job, std::initializer_list<Nanoseconds> begins, bool known) {
  for (const Nanoseconds begin : begins) {
    job.rank(0).compute(begin * us, (begin + 10) * us);
    if (known) job.rank(0).launched((begin - 1) * us, begin * us);
  }
}

// Whether launches are known is a matter of the time that they would explain, not of how many gaps there are.
TEST(HostBound, LaunchesAreKnownByTheTimeOfGaps) {
  JobBuilder mostly_known;  // one gap of 490 µs, and five of 2 µs of which nobody knows
  compute_at(mostly_known, {0, 500}, true);
  compute_at(mostly_known, {512, 524, 536, 548, 560}, false);
  EXPECT_THAT(codes_of(report_of(mostly_known).findings), testing::Contains("host_bound"));
  JobBuilder mostly_unknown;  // the other way round
  compute_at(mostly_unknown, {0, 100, 112, 124, 136, 148, 160, 172, 184, 196, 208, 220}, true);
  compute_at(mostly_unknown, {400}, false);
  EXPECT_THAT(codes_of(report_of(mostly_unknown).findings), testing::Not(testing::Contains("host_bound")));
}

// The host's time is not blamed on the program where the profiler took a part of it.
TEST(HostBound, IsTheProfilersInPartWhereItRecordedStacks) {
  JobBuilder builder;
  compute_at(builder, {0, 500, 1000}, true);
  Job job = builder.build();
  EXPECT_THAT(codes_of(report_of(job).findings), testing::Contains("host_bound"));
  job.warnings.push_back({"profiler_overhead", "recorded with with_stack", 0});
  const Finding slowed = finding(report_of(job), "host_slowed_by_profiler");
  EXPECT_EQ(slowed.severity, "note");
  EXPECT_THAT(slowed.remedy, testing::HasSubstr("without what the warning `profiler_overhead` names"));
  EXPECT_THAT(codes_of(report_of(job).findings), testing::Not(testing::Contains("host_bound")));
  EXPECT_THAT(slowed.evidence, testing::Not(testing::Contains(testing::HasSubstr("the profiler says"))));
}

// What profilers say of themselves is a figure, of all ranks together, and no judgement.
TEST(HostBound, SaysWhatTheProfilersSayThatTheyTook) {
  JobBuilder builder;
  compute_at(builder, {0, 500, 1000}, true);
  for (const Nanoseconds begin : {0, 500, 1000})
    builder.rank(1).compute(begin * us, (begin + 10) * us).launched((begin - 1) * us, begin * us);
  Job job = builder.build();
  job.warnings.push_back({"profiler_overhead", "recorded with with_stack", 0});
  const Finding without = finding(report_of(job), "host_slowed_by_profiler");
  job.ranks[0].profiler_ns = 30 * us;
  job.ranks[1].profiler_ns = 12 * us;
  const Finding slowed = finding(report_of(job), "host_slowed_by_profiler");
  EXPECT_THAT(slowed.evidence,
              testing::Contains(testing::HasSubstr("42.0 µs of all ranks' time was its own")));
  EXPECT_EQ(slowed.lost_ns, without.lost_ns);
  EXPECT_EQ(slowed.severity, without.severity);
}

}  // namespace
}  // namespace lockstep::analyzer
