// Pipelines of which one stage computes more. F = 10 µs, B = 20 µs a chunk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/model/pipeline_job.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;

PipelinePlan plan_of(int stages, int microbatches) {
  return {.stages = stages,
          .order = one_forward_one_backward(stages, microbatches),
          .forward = 10 * us,
          .backward = 20 * us};
}

BlameReport blame_of(const Report& report, std::int32_t rank) {
  for (const BlameReport& blame : report.blame)
    if (blame.rank == rank) return blame;
  ADD_FAILURE() << "nobody waits for rank " << rank;
  return {};
}

// Its threads ran, and waited for a core, for so long from its first activity to its last.
void run_on_cores(JobBuilder& job, std::int32_t rank, Nanoseconds ran, Nanoseconds waited) {
  RankTrace& trace = job.rank(rank).trace();
  trace.device = "cpu";
  SchedulingPoint begin{.time = trace.activities.front().begin}, end{.time = trace.activities.back().end};
  end.on_cpu_ns = ran;
  end.runnable_ns = end.waited_ns = waited;
  trace.scheduling = {begin, end};
}

TEST(PipelineFindings, AStageWithSlowLayers) {
  PipelinePlan plan = plan_of(4, 8);
  plan.slow_stage = 2;
  plan.slower_by = 10 * us;
  const Report report = report_of(pipeline_job(plan));
  const Finding unbalanced = finding(report, "unbalanced_stages");
  EXPECT_EQ(unbalanced.title, "stage 2 (rank 2) of the pipeline computes 66.7 % more than the median stage");
  EXPECT_THAT(unbalanced.evidence,
              Contains(HasSubstr("it computes for 400 µs, the median stage for 240 µs")));
  EXPECT_THAT(unbalanced.evidence, Contains("it has 2 layers, the others 2"));
  EXPECT_THAT(unbalanced.evidence,
              Contains("the forward pass of one of its layers takes 10.0 µs, of the others' 5.00 µs"));
  EXPECT_THAT(unbalanced.remedy, HasSubstr("its layers themselves are slower"));
  EXPECT_EQ(unbalanced.lost_ns, 3 * 160 * us);
  const PipelineReport& pipeline = report.pipeline.at(0);
  const Finding bubble = finding(report, "pipeline_bubble");
  EXPECT_THAT(bubble.remedy, HasSubstr("balance the stages first"));
  EXPECT_THAT(bubble.title, HasSubstr("where its schedule costs 27.3 %"));
  EXPECT_FALSE(bubble.is_note);
  const std::int64_t scheduled = pipeline.region_ns * 4 * 3 / 11;
  EXPECT_NEAR(static_cast<double>(bubble.lost_ns), static_cast<double>(pipeline.bubble_ns - scheduled), 1);
  EXPECT_THAT(blame_of(report, 2).root_cause,
              HasSubstr("`forward layer 4`: 10.0 µs each time, 5.00 µs in the median layer of the others"));
  // Only the slow stage is late.
  for (const BlameReport& blame : report.blame)
    EXPECT_EQ(blame.scheduled_ns == blame.blame_ns, blame.rank != 2) << blame.rank;
}

TEST(PipelineFindings, AStageThatComputesMoreBesideItsLayers) {
  JobBuilder job = pipeline_job(plan_of(2, 4));
  // The last stage's head: a part without a layer's number, behind the whole pipeline, so that it fits.
  Nanoseconds at = 1000 + 150 * us;
  for (int microbatch = 0; microbatch < 4; ++microbatch, at += 20 * us)
    job.rank(1).compute(at, at + 20 * us, "backward head").part_of(Pass::backward, -1, 9);
  const Finding unbalanced = finding(report_of(job), "unbalanced_stages");
  EXPECT_THAT(unbalanced.title, HasSubstr("stage 1 (rank 1) of the pipeline computes 66.7 % more"));
  EXPECT_THAT(unbalanced.evidence, Contains("it has 2 layers, the others 2"));
  EXPECT_THAT(unbalanced.remedy, HasSubstr("give it fewer layers than the others"));
}

// The slow stage's rank waits for a core as long as it computes more than the median stage, or 1 ns less.
TEST(PipelineFindings, AStageThatMayHaveWaitedForACoreIsNotCalledSlow) {
  PipelinePlan plan = plan_of(4, 8);
  plan.slow_stage = 2;
  plan.slower_by = 10 * us;
  for (const Nanoseconds waited : {160 * us, 160 * us - 1}) {
    JobBuilder job = pipeline_job(plan);
    run_on_cores(job, 2, 400 * us, waited);
    const Report report = report_of(job);
    EXPECT_EQ(report.ranks[2].measures.run_queue_ns, waited);
    const bool found = std::any_of(report.findings.begin(), report.findings.end(),
                                   [](const Finding& one) { return one.code == "unbalanced_stages"; });
    EXPECT_EQ(found, waited < 160 * us);
    EXPECT_THAT(
        finding(report, "pipeline_bubble").remedy,
        HasSubstr(found ? "balance the stages first" : "whether the stages are balanced can't be told"));
  }
}

// Seen of healthy torchtitan pipelines beside other programs: "stage 1 computes 10.3 % more", "stage 0 29.9
// %".
TEST(PipelineFindings, BesideOtherProgramsAStageThatComputesALittleMoreIsNotUnbalanced) {
  const auto is_found = [](Nanoseconds slower_by, Nanoseconds waited) {
    PipelinePlan plan = plan_of(4, 8);
    plan.slow_stage = 2;
    plan.slower_by = slower_by;
    JobBuilder job = pipeline_job(plan);
    run_on_cores(job, 2, 200 * us, waited);
    return testing::Matches(Contains("unbalanced_stages"))(codes_of(report_of(job).findings));
  };
  EXPECT_TRUE(is_found(3 * us, 0)) << "a fifth more, and nobody else on the cores";
  EXPECT_FALSE(is_found(3 * us, 10 * us));
  EXPECT_FALSE(is_found(7 * us, 10 * us)) << "nearly half as much again";
  EXPECT_TRUE(is_found(8 * us, 10 * us)) << "more than half as much again";
}

// Seen of a stage with twice the layers, on cores that builds had: it computed 45 % more and ran 75 % longer.
TEST(PipelineFindings, BesideOtherProgramsAStageWhoseThreadsRunHalfAsLongAgainIsUnbalanced) {
  const auto is_found = [](Nanoseconds slower_by, Nanoseconds others_ran) {
    PipelinePlan plan = plan_of(4, 8);
    plan.slow_stage = 2;
    plan.slower_by = slower_by;
    JobBuilder job = pipeline_job(plan);
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      run_on_cores(job, rank, rank == 2 ? 210 * us : others_ran, 20 * us);
    }
    return testing::Matches(Contains("unbalanced_stages"))(codes_of(report_of(job).findings));
  };
  EXPECT_TRUE(is_found(7 * us, 140 * us)) << "46.7 % more";
  EXPECT_FALSE(is_found(7 * us, 140 * us + 1)) << "not half as long again";
  EXPECT_FALSE(is_found(5 * us, 100 * us)) << "a third more";
}

// Seen on cores that were shared: all stages wait for them, the slow one most, and its threads run longer.
TEST(PipelineFindings, AStageWhoseThreadsRunLongerHasMoreToDoHoweverLongItWaitsForACore) {
  PipelinePlan plan = plan_of(4, 8);
  plan.slow_stage = 2;
  plan.slower_by = 10 * us;
  for (const Nanoseconds ran : {360 * us - 1, 360 * us}) {
    JobBuilder job = pipeline_job(plan);
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      run_on_cores(job, rank, rank == 2 ? ran : 240 * us, 160 * us);
    }
    const Report report = report_of(job);
    if (ran < 360 * us) {
      EXPECT_THAT(codes_of(report.findings), testing::Not(Contains("unbalanced_stages")));
      continue;
    }
    const Finding found = finding(report, "unbalanced_stages");
    EXPECT_EQ(found.title, "stage 2 (rank 2) of the pipeline computes 66.7 % more than the median stage");
    EXPECT_THAT(found.evidence,
                Contains(HasSubstr("its training threads ran for 360 µs, those of the others for 240 µs")));
    EXPECT_EQ(found.lost_ns, 3 * 120 * us) << "no more than they ran longer";
    EXPECT_THAT(finding(report, "pipeline_bubble").remedy, HasSubstr("balance the stages first"));
  }
}

}  // namespace
}  // namespace lockstep::analyzer
