// Findings about pipelines, of simulated ones. F = 10 µs, B = 20 µs a chunk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/model/pipeline_job.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

PipelinePlan plan_of(int stages, int microbatches) {
  return {.stages = stages,
          .order = one_forward_one_backward(stages, microbatches),
          .forward = 10 * us,
          .backward = 20 * us};
}

TEST(PipelineFindings, ABubbleThatTheScheduleCosts) {
  const Report report = report_of(pipeline_job(plan_of(4, 8)));
  const Finding bubble = finding(report, "pipeline_bubble");
  EXPECT_EQ(bubble.title, "the schedule of the pipeline lets its stages idle for 27.3 % of its region");
  EXPECT_EQ(bubble.severity, "note");
  EXPECT_THAT(bubble.evidence,
              Contains("1F1B with 4 stages and 8 microbatches cannot do better than 27.3 %"));
  EXPECT_THAT(bubble.remedy, HasSubstr("more microbatches a step: with 16 the ideal is 15.8 %"));
  EXPECT_THAT(bubble.remedy, HasSubstr("with 2 chunks a stage it is 15.8 %"));
  // The same bubble as the table's: also where a stage that is done waits for nothing any more.
  EXPECT_EQ(bubble.lost_ns, report.pipeline.at(0).bubble_ns);
  EXPECT_EQ(bubble.lost_ns, 4 * 3 * 30 * us);
  EXPECT_THAT(bubble.evidence, Contains("90.0 µs on each stage"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("unbalanced_stages")));
}

// The schedule makes stages wait for each other: that is its bubble, and no rank is late.
TEST(PipelineFindings, ABalancedPipelineHasNoStraggler) {
  for (const int stages : {2, 4}) {
    const Report report = report_of(pipeline_job(plan_of(stages, 8)));
    ASSERT_FALSE(report.blame.empty());
    for (const BlameReport& blame : report.blame) {
      EXPECT_EQ(blame.scheduled_ns, blame.blame_ns) << blame.rank;
      EXPECT_EQ(blame.root_cause, "") << blame.rank;
    }
    for (const std::string& code : codes_of(report.findings)) EXPECT_THAT(code, Not(HasSubstr("straggler")));
  }
}

// Stage 0 has the last backward of all, so that the others wait for it wherever all ranks meet after that.
void meet_at_the_end(Job& job) {
  Nanoseconds last = 0;
  for (const RankTrace& rank : job.ranks) last = std::max(last, rank.activities.back().end);
  std::vector<std::int32_t> all;
  for (const RankTrace& rank : job.ranks) all.push_back(rank.rank);
  job.groups.push_back({"world", "", all});
  for (RankTrace& rank : job.ranks) {
    for (std::int64_t number = 0; number < 3; ++number) {
      Activity meeting;
      meeting.begin = (number == 0 ? rank.activities.back().end : last) + number * us;
      meeting.end = last + (number + 1) * us;
      meeting.launch_begin = meeting.launch_end = meeting.begin;
      meeting.name = job.strings.intern("all_reduce");
      meeting.lane = rank.activities.back().lane;
      meeting.activity_class = Class::collective;
      meeting.communication = static_cast<std::uint32_t>(rank.communications.size());
      Communication communication;
      communication.activity = static_cast<std::uint32_t>(rank.activities.size());
      communication.group = static_cast<std::uint32_t>(job.groups.size() - 1);
      communication.operation = Operation::all_reduce;
      communication.has_metadata = true;
      communication.sequence = number;
      rank.activities.push_back(meeting);
      rank.communications.push_back(communication);
    }
  }
}

TEST(PipelineFindings, WaitingForTheFirstStageToDrainIsTheSchedules) {
  Job job = pipeline_job(plan_of(4, 8)).build();
  meet_at_the_end(job);
  const Report report = report_of(job);
  ASSERT_EQ(report.collectives.back().last_arriver, std::nullopt);  // they left the first meeting together
  EXPECT_TRUE(
      std::any_of(report.collectives.begin(), report.collectives.end(), [](const CollectiveReport& one) {
        return one.operation == Operation::all_reduce && one.last_arriver == 0;
      }));
  for (const std::string& code : codes_of(report.findings)) {
    EXPECT_THAT(code, Not(HasSubstr("straggler")));
    EXPECT_NE(code, "imbalance");
  }
}

TEST(PipelineFindings, WithoutAScheduleTheFindingSaysSo) {
  PipelinePlan plan = plan_of(2, 4);
  // Each microbatch forward and backward before the next one.
  for (auto& stage : plan.order) {
    stage.clear();
    for (int m = 0; m < 4; ++m) stage.insert(stage.end(), {{true, m, 0}, {false, m, 0}});
  }
  const Report report = report_of(pipeline_job(plan));
  EXPECT_EQ(report.pipeline.at(0).schedule, Schedule::unknown);
  const Finding bubble = finding(report, "pipeline_bubble");
  EXPECT_THAT(bubble.title, HasSubstr("idle for 50.0 % of its region"));
  EXPECT_THAT(bubble.evidence, Contains(HasSubstr("neither GPipe's nor 1F1B's")));
}

// What is left of it once the slow stage is spoken of may be what the schedule costs.
TEST(PipelineFindings, WithoutAScheduleTheBubbleIsANoteBesideItsCause) {
  PipelinePlan plan = plan_of(2, 4);
  for (auto& stage : plan.order) {
    stage.clear();
    for (int m = 0; m < 4; ++m) stage.insert(stage.end(), {{true, m, 0}, {false, m, 0}});
  }
  EXPECT_FALSE(finding(report_of(pipeline_job(plan)), "pipeline_bubble").is_note);
  plan.slow_stage = 1;
  plan.slower_by = 20 * us;
  const Report report = report_of(pipeline_job(plan));
  EXPECT_NO_FATAL_FAILURE(finding(report, "unbalanced_stages"));
  EXPECT_TRUE(finding(report, "pipeline_bubble").is_note);
  const std::vector<std::string> codes = codes_of(report.findings);
  EXPECT_LT(std::find(codes.begin(), codes.end(), "unbalanced_stages"),
            std::find(codes.begin(), codes.end(), "pipeline_bubble"));
}

// In each step rank 1 computes something before its first pass, for as long as the plan lets it idle.
Report computing_beside_passes(PipelinePlan plan, int steps) {
  JobBuilder builder;
  const std::uint32_t group = builder.group(plan.group, ranks_of(plan));
  Nanoseconds end = 0;
  for (int step = 0; step < steps; ++step) {
    const Nanoseconds begin = end;
    plan.begin = begin + 10 * us;
    end = add_pipeline_step(builder, group, plan) + 10 * us;
    for (const std::int32_t rank : ranks_of(plan)) builder.rank(rank).step(step, begin, end);
    builder.rank(1).compute(plan.begin, plan.begin + plan.idles_for, "forward_other");
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks)
    for (Activity& activity : rank.activities) activity.launch_begin = activity.launch_end = activity.begin;
  return report_of(job);
}

// In each step rank 1 runs something for 4 ms before its first pass. Stage 0 computes 10 % more than the
// other, which is too little for a finding: the remedy refers to none.
TEST(PipelineFindings, WhatAStageComputesOutsideOfItsPassesIsSaidToBeBubble) {
  const Report report = computing_beside_passes({.stages = 2,
                                                 .order = one_forward_one_backward(2, 4),
                                                 .forward = 100 * us,
                                                 .backward = 200 * us,
                                                 .slow_stage = 0,
                                                 .slower_by = 16 * us,
                                                 .idle_stage = 1,
                                                 .idles_for = 4000 * us},
                                                3);
  const Finding bubble = finding(report, "pipeline_bubble");
  EXPECT_THAT(
      bubble.evidence,
      Contains("rank 1 computes for 12.0 ms outside of its passes: that counts as bubble here, and as "
               "compute in the table of ranks"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("unbalanced_stages")));
  EXPECT_THAT(bubble.remedy, Not(HasSubstr("see the finding about them")));
  EXPECT_THAT(bubble.remedy,
              HasSubstr("that a stage's passes compute longer costs little: look at what stages do "
                        "beside their passes"));
}

// In each of 20 steps rank 1 computes for 400 µs before its first pass, and is late by that: that time is its
// own doing, not once more the pipeline's.
TEST(PipelineFindings, WhatALateStageComputesOutsideOfItsPassesIsNoCauseOfItsOwn) {
  const Report report = computing_beside_passes({.stages = 2,
                                                 .order = one_forward_one_backward(2, 4),
                                                 .forward = 100 * us,
                                                 .backward = 200 * us,
                                                 .idle_stage = 1,
                                                 .idles_for = 400 * us},
                                                20);
  EXPECT_EQ(finding(report, "straggler_persistent").rank, 1);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("pipeline_bubble")));
}

}  // namespace
}  // namespace lockstep::analyzer
