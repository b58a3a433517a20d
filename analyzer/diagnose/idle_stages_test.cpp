// A stage that does nothing while others wait for its messages.
#include "analyzer/diagnose/idle_stages.h"

#include <gtest/gtest.h>

#include <utility>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/model/pipeline_job.h"

namespace lockstep::analyzer {
namespace {

// Two equal stages, four microbatches of 100 + 200 µs, 1F1B, on CPUs. In every step rank 1 begins `idles`
// after rank 0, which sends its first microbatch at 100 µs and then waits until rank 1 is there.
constexpr int kSteps = 20;
Job job_with(Nanoseconds idles, bool does_something = false) {
  JobBuilder builder;
  const PipelinePlan plan{
      .stages = 2, .order = one_forward_one_backward(2, 4), .forward = 100 * us, .backward = 200 * us};
  const std::uint32_t group = builder.group(plan.group, ranks_of(plan));
  Nanoseconds end = 0;
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = end;
    PipelinePlan of_step = plan;
    of_step.begin = begin + 10 * us;
    of_step.idle_stage = 1;
    of_step.idles_for = idles;
    end = add_pipeline_step(builder, group, of_step) + 10 * us;
    for (const std::int32_t rank : ranks_of(plan)) builder.rank(rank).step(step, begin, end);
    if (does_something) builder.rank(1).compute(of_step.begin, of_step.begin + idles, "forward_other");
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) {
    rank.device = "cpu";
    for (Activity& activity : rank.activities) activity.launch_begin = activity.launch_end = activity.begin;
  }
  return job;
}

TEST(IdleStages, AreThoseOfWhoseMessageOthersWaitMeanwhile) {
  const Job job = job_with(150 * us);
  const Report report = report_of(job);
  const IdleStages idle = find_idle_stages(job, report);
  for (int step = 0; step < kSteps; ++step) {
    // Rank 0 has sent at 100 µs what rank 1 takes at 150 µs.
    EXPECT_EQ(idle.ns.at({step, 1}), 50 * us) << step;
    const auto of_first = idle.ns.find({step, 0});
    EXPECT_TRUE(of_first == idle.ns.end() || of_first->second == 0) << step;
  }
  EXPECT_EQ(idle.messages.size(), std::size_t{kSteps});
}

TEST(IdleStages, AreNoneWhereTheStageIsAtWorkOrOnSchedule) {
  for (const Job& job : {job_with(150 * us, true), job_with(0)}) {
    const IdleStages idle = find_idle_stages(job, report_of(job));
    EXPECT_TRUE(idle.messages.empty());
    for (const auto& [of, ns] : idle.ns) EXPECT_EQ(ns, 0) << "step " << of.first << ", rank " << of.second;
  }
}

TEST(IdleStages, AreNamedAndTheirBubbleIsSaidOnce) {
  const Report report = report_of(job_with(400 * us));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "host");
  EXPECT_THAT(late.title,
              testing::HasSubstr("rank 1 does something for 300 µs longer that the trace does not name"));
  // Rank 0 waits for 200 µs, after its second forward pass, and rank 1 would be faster by 300 µs.
  EXPECT_EQ(late.lost_ns, kSteps * (200 + 300) * us);
  EXPECT_THAT(codes_of(report.findings), testing::Not(testing::Contains("pipeline_bubble")))
      << "of 24.0 ms the schedule costs 14.4 ms, and the late stage the rest";
}

}  // namespace
}  // namespace lockstep::analyzer
