// Pipelines as a schedule's simulation makes them: bubble, schedule, stages, and the partition's fourth
// cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "analyzer/analysis.h"
#include "analyzer/model/pipeline_job.h"
#include "analyzer/report/measure_words.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

Analysis analyzed(const JobBuilder& job, const AnalysisOptions& options = {}) {
  return checked_analysis(job.build(), options);
}

PipelineReport only_pipeline(const JobBuilder& job) {
  const Analysis analysis = analyzed(job);
  EXPECT_EQ(analysis.report.pipeline.size(), 1u);
  return analysis.report.pipeline.empty() ? PipelineReport{} : analysis.report.pipeline[0];
}

// Stages, microbatches, and length of forward and backward.
class Ideal : public testing::TestWithParam<std::tuple<int, int, int, int>> {
 protected:
  int p = std::get<0>(GetParam()), m = std::get<1>(GetParam());
  Nanoseconds forward = std::get<2>(GetParam()), backward = std::get<3>(GetParam());

  // All passes equally long, transfer free: the bubble is p − 1 passes of each kind on every stage.
  void expect_ideal(const PipelineReport& report, std::int64_t passes) const {
    EXPECT_EQ(report.region_ns, (passes + p - 1) * (forward + backward));
    EXPECT_EQ(report.bubble_ns, std::int64_t{p} * (p - 1) * (forward + backward));
    ASSERT_TRUE(report.bubble_ratio && report.bubble_ratio_ideal);
    EXPECT_DOUBLE_EQ(*report.bubble_ratio, *report.bubble_ratio_ideal);
    EXPECT_DOUBLE_EQ(*report.bubble_ratio_ideal,
                     static_cast<double>(p - 1) / static_cast<double>(passes + p - 1));
    EXPECT_EQ(report.stages, p);
    EXPECT_EQ(report.microbatches, m);
    EXPECT_EQ(report.reason.code, PipelineReason::Code::none);
    for (const PipelineStage& stage : report.stages_detail) {
      EXPECT_EQ(stage.compute_ns, passes * (forward + backward));
      EXPECT_EQ(stage.forward_ns, passes * forward);
      EXPECT_EQ(stage.backward_ns, passes * backward);
      EXPECT_EQ(stage.exposed_transfer_ns, 0);
      EXPECT_EQ(stage.bubble_ns, (p - 1) * (forward + backward));
      EXPECT_EQ(stage.rank, stage.stage);
    }
  }
};

TEST_P(Ideal, GPipe) {
  const PipelineReport report = only_pipeline(
      pipeline_job({.stages = p, .order = gpipe(p, m), .forward = forward, .backward = backward}));
  EXPECT_EQ(report.schedule, Schedule::gpipe);
  EXPECT_EQ(report.chunks, 1);
  expect_ideal(report, m);
}

TEST_P(Ideal, OneForwardOneBackward) {
  const PipelineReport report = only_pipeline(pipeline_job(
      {.stages = p, .order = one_forward_one_backward(p, m), .forward = forward, .backward = backward}));
  EXPECT_EQ(report.schedule, Schedule::one_forward_one_backward);
  expect_ideal(report, m);
}

TEST_P(Ideal, Interleaved) {
  for (const int chunks : {2, 3}) {
    SCOPED_TRACE(chunks);
    const PipelineReport report = only_pipeline(pipeline_job({.stages = p,
                                                              .order = interleaved(p, m, chunks),
                                                              .chunks = chunks,
                                                              .forward = forward,
                                                              .backward = backward,
                                                              .waits = false}));
    EXPECT_EQ(report.schedule, Schedule::interleaved);
    EXPECT_EQ(report.chunks, chunks);
    expect_ideal(report, std::int64_t{chunks} * m);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ideal,
                         testing::Combine(testing::Values(2, 4), testing::Values(4, 8),
                                          testing::Values(10, 30), testing::Values(20, 30)));

TEST(Pipeline, StagesSplitTheirBubble) {
  // F = 10, B = 20. Stage 0: two forwards, then it waits for the first backward; stage 1 waits for its first
  // forward, and is done one backward early.
  const PipelineReport report =
      only_pipeline(pipeline_job({.stages = 2, .order = one_forward_one_backward(2, 4)}));
  ASSERT_EQ(report.stages_detail.size(), 2u);
  const PipelineStage& first = report.stages_detail[0];
  const PipelineStage& last = report.stages_detail[1];
  EXPECT_THAT(first.layers, ElementsAre(0, 1));
  EXPECT_THAT(last.layers, ElementsAre(2, 3));
  // Stage 0: F 0–10, F 10–20, idle, B 40–60, F 60–70, idle, B 70–90, F 90–100, idle, B 100–120, idle, B
  // 130–150.
  EXPECT_EQ(first.warm_up_ns, 20);
  EXPECT_EQ(first.steady_ns, 0);
  EXPECT_EQ(first.cool_down_ns, 10);
  EXPECT_EQ(last.warm_up_ns, 10);
  EXPECT_EQ(last.steady_ns, 0);
  EXPECT_EQ(last.cool_down_ns, 20);
}

TEST(Pipeline, ItsBubbleIsThePartitionsFourthCause) {
  const Analysis analysis = analyzed(pipeline_job({.stages = 4, .order = one_forward_one_backward(4, 8)}));
  // All idle time and all waiting lies in the region, which is the whole run; no window of a rank is longer.
  std::int64_t outside = 0;
  for (const RankReport& rank : analysis.report.ranks) {
    const Measures& m = rank.measures;
    EXPECT_EQ(m.partition.total(), m.window_ns);
    EXPECT_EQ(m.partition[Cause::compute] + m.partition[Cause::pipeline_bubble], m.window_ns);
    outside += 11 * 30 - m.window_ns;  // before a rank's first and behind its last activity
  }
  std::int64_t bubble = 0;
  for (const RankReport& rank : analysis.report.ranks)
    bubble += rank.measures.partition[Cause::pipeline_bubble];
  EXPECT_EQ(bubble + outside, analysis.report.pipeline.at(0).bubble_ns);
}

TEST(Pipeline, TheRegionIsOfPassesAndNotOfMessages) {
  // An idle gap between the last message and the last backward's end on the other rank, and one behind it.
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline 0", {0, 1});
  job.rank(0).forward(0, 0, 0, 10).launched(0, 0).send(1, 10, 12).in_group(group).launched(10, 10);
  job.rank(0).recv(1, 12, 52).in_group(group).launched(12, 12);
  job.rank(0).backward(0, 0, 60, 80).launched(52, 52);
  job.rank(0).compute(90, 95, "optimizer").part_of(Pass::optimizer, -1, -1).launched(85, 90);
  job.rank(1).recv(0, 5, 12).in_group(group).launched(5, 5);
  job.rank(1).forward(1, 0, 12, 20).launched(12, 12).backward(1, 0, 20, 50).launched(20, 20);
  job.rank(1).send(0, 50, 52).in_group(group).launched(50, 50);
  job.rank(1).compute(70, 72, "optimizer").part_of(Pass::optimizer, -1, -1).launched(70, 70);
  const Analysis analysis = analyzed(job);
  const Partition& first = analysis.report.ranks[0].measures.partition;
  // Waiting for the gradient 12–50, idle 52–60; the gaps after 80 are none of it.
  EXPECT_EQ(first[Cause::pipeline_bubble], 38 + 8);
  EXPECT_EQ(first[Cause::host_bound], 10);
  const PipelineReport& report = analysis.report.pipeline.at(0);
  EXPECT_TRUE(report.passes_known);
  EXPECT_EQ(report.region_ns, 80);
  // Stage 0: compute 30, transfer 10–12 and 50–52. Stage 1: compute 38, transfer 10–12 and 50–52; the
  // optimizer's 2 ns are no pass and count as bubble.
  EXPECT_EQ(report.stages_detail.at(0).bubble_ns, 80 - 30 - 4);
  EXPECT_EQ(report.stages_detail.at(1).bubble_ns, 80 - 38 - 4);
  EXPECT_EQ(report.stages_detail.at(1).exposed_transfer_ns, 4);
}

// And of the forward before the first one; nothing is computed behind the last.
TEST(Pipeline, WithoutPassesTheRegionIsOfMessages) {
  JobBuilder job;
  const std::uint32_t group = job.group("3", {0, 1}, "PIPELINE_PARALLEL_GROUP pp");
  job.rank(0).compute(0, 10).send(1, 10, 12).in_group(group).recv(1, 30, 40).in_group(group);
  job.rank(1).recv(0, 10, 12).in_group(group).compute(12, 36).send(0, 36, 40).in_group(group);
  const PipelineReport report = only_pipeline(job);
  EXPECT_FALSE(report.passes_known);
  EXPECT_EQ(report.region_ns, 40);
  // Rank 0: compute 10, transfer 2 + 4. Rank 1: compute 24, transfer 2 + 4.
  EXPECT_EQ(report.bubble_ns, 24 + 10);
  EXPECT_DOUBLE_EQ(*report.bubble_ratio, 34.0 / 80);
  EXPECT_EQ(report.schedule, Schedule::unknown);
  EXPECT_EQ(report.bubble_ratio_ideal, std::nullopt);
  EXPECT_EQ(report.microbatches, std::nullopt);
  EXPECT_EQ(report.reason.code, PipelineReason::Code::passes_unknown);
  EXPECT_EQ(report.stages_detail.at(0).warm_up_ns, std::nullopt);
}

// The last step of a job that hung: one stage is through its passes, of the other nothing is known.
TEST(Pipeline, AStepThatNotAllHaveEndedSaysNothingOfThePasses) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline 0", {0, 1});
  Nanoseconds begin = 1000;
  for (int step = 0; step < 3; ++step) {
    const PipelinePlan plan{.stages = 2, .order = one_forward_one_backward(2, 4), .begin = begin};
    const Nanoseconds end = add_pipeline_step(job, group, plan);
    for (const int stage : {0, 1}) job.rank(stage).step(step, begin - 5, end + 5);
    begin = end + 500;
  }
  job.rank(0).forward(0, 0, begin, begin + 10).send(1, begin + 10, begin + 900).in_group(group);
  job.rank(0).step(3, begin - 5, begin + 905);
  for (const int stage : {0, 1}) {
    for (Activity& activity : job.rank(stage).trace().activities)
      activity.launch_begin = activity.launch_end = activity.begin;
  }
  const PipelineReport report = analyzed(job).report.pipeline.at(0);
  EXPECT_TRUE(report.passes_known);
  EXPECT_EQ(report.schedule, Schedule::one_forward_one_backward);
  EXPECT_EQ(report.steps, 3);
}

// Two replicas, three steps; the work between steps is in no region.
JobBuilder replicas() {
  JobBuilder job;
  for (const int replica : {0, 1}) {
    const std::uint32_t group =
        job.group("pipeline " + std::to_string(replica), {2 * replica, 2 * replica + 1});
    Nanoseconds begin = 1000;
    for (int step = 0; step < 3; ++step) {
      const PipelinePlan plan{.stages = 2,
                              .order = one_forward_one_backward(2, 4),
                              .slow_stage = replica == 1 ? 0 : -1,
                              .slower_by = step == 2 ? 10 : 0,
                              .begin = begin,
                              .first_rank = 2 * replica};
      const Nanoseconds end = add_pipeline_step(job, group, plan);
      for (const int stage : {0, 1}) job.rank(plan.first_rank + stage).step(7 + step, begin - 5, end + 5);
      begin = end + 500;
    }
    for (const int stage : {0, 1}) {
      for (Activity& activity : job.rank(2 * replica + stage).trace().activities)
        activity.launch_begin = activity.launch_end = activity.begin;
    }
  }
  return job;
}

TEST(Pipeline, ReplicasAndStepsAreSummedApart) {
  const Report report = analyzed(replicas()).report;
  ASSERT_EQ(report.pipeline.size(), 2u);
  EXPECT_EQ(report.pipeline[0].group, "pipeline 0");
  EXPECT_EQ(report.pipeline[0].steps, 3);
  EXPECT_EQ(report.pipeline[0].region_ns, 3 * 150);
  EXPECT_DOUBLE_EQ(*report.pipeline[0].bubble_ratio, 0.2);
  EXPECT_GT(*report.pipeline[1].bubble_ratio, 0.2);
  EXPECT_EQ(report.pipeline[1].schedule, Schedule::one_forward_one_backward);
  EXPECT_EQ(report.pipeline[1].stages_detail.at(1).rank, 3);
  // The gaps between steps are no bubble.
  for (const RankReport& rank : report.ranks)
    EXPECT_LT(rank.measures.partition[Cause::pipeline_bubble], 3 * 150);
}

TEST(Pipeline, SelectedStepsAlone) {
  AnalysisOptions options;
  options.last_step = 8;
  const Report report = analyzed(replicas(), options).report;
  ASSERT_EQ(report.pipeline.size(), 2u);
  EXPECT_EQ(report.pipeline[1].steps, 2);
  EXPECT_DOUBLE_EQ(*report.pipeline[1].bubble_ratio, 0.2);  // the slow step is the third
}

TEST(Pipeline, ARankWithoutATraceLeavesNoRatio) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1, 2});
  job.missing(2);
  add_pipeline_step(job, group, {.stages = 2, .order = one_forward_one_backward(2, 4)});
  const Report report = analyzed(job).report;
  ASSERT_EQ(report.pipeline.size(), 1u);
  EXPECT_EQ(report.pipeline[0].bubble_ratio, std::nullopt);
  EXPECT_EQ(report.pipeline[0].stages, 3);
  EXPECT_EQ(reason_text(report.pipeline[0].reason), "1 of its 3 ranks left no trace");
}

TEST(Pipeline, EmbeddingAndHeadBelongToTheChunkBesideThem) {
  PipelinePlan plan{.stages = 2, .order = interleaved(2, 2, 2), .chunks = 2, .waits = false};
  JobBuilder job = pipeline_job(plan);
  // Cut the first range of each forward of chunk 0 on stage 0, and the last of each of chunk 1 on stage 1: no
  // layer.
  for (const int rank : {0, 1}) {
    RankTrace& trace = job.rank(rank).trace();
    trace.computations.push_back({-1, 0, Pass::forward});
    trace.computations.push_back({-1, 1, Pass::forward});
    const auto none = static_cast<std::uint32_t>(trace.computations.size() - 2);
    for (Activity& activity : trace.activities) {
      if (activity.compute == kNone) continue;
      const Computation computation = trace.computations[activity.compute];
      if (computation.pass == Pass::forward && computation.layer == (rank == 0 ? 0 : 7))
        activity.compute = none + static_cast<std::uint32_t>(computation.microbatch);
    }
  }
  const PipelineReport report = only_pipeline(job);
  EXPECT_EQ(report.schedule, Schedule::interleaved) << reason_text(report.reason);
  EXPECT_THAT(report.stages_detail.at(0).layers, ElementsAre(1, 4, 5));
}

// Messages of a pipeline: who waits for whom.
TEST(PipelineMessages, AReceiverWaitsForALateSender) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  job.rank(0).forward(0, 0, 0, 50).send(1, 50, 54).in_group(group);
  job.rank(1).recv(0, 10, 54).in_group(group).forward(1, 0, 54, 60);
  const Report report = analyzed(job).report;
  EXPECT_EQ(report.ranks[1].measures.p2p_wait_ns, 40);
  EXPECT_EQ(report.ranks[1].measures.partition[Cause::pipeline_bubble], 40);
  EXPECT_EQ(report.ranks[1].measures.partition[Cause::transfer], 4);
  EXPECT_EQ(report.ranks[0].measures.p2p_wait_ns, 0);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::transfer], 4);
}

TEST(PipelineMessages, ASenderThatWaitsForItsReceiverWaits) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  job.rank(0).forward(0, 0, 0, 10).send(1, 10, 54).in_group(group);
  job.rank(1).forward(1, 9, 0, 50).recv(0, 50, 54).in_group(group);
  const Report report = analyzed(job).report;
  EXPECT_EQ(report.ranks[0].measures.p2p_wait_ns, 40);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::pipeline_bubble], 40);
  EXPECT_EQ(report.ranks[1].measures.p2p_wait_ns, 0);
}

// Gloo's send ends when its receiver has posted. One that does not (a buffered send) and ends before its
// receive begins cannot be told from a wrong match: the records stand alone, and nobody waits.
TEST(PipelineMessages, ABufferedSendAndItsLateReceiveAreTransfer) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  job.rank(0).forward(0, 0, 0, 10).send(1, 10, 14).in_group(group);
  job.rank(1).forward(1, 9, 0, 50).recv(0, 50, 54).in_group(group);
  const Report report = analyzed(job).report;
  for (const RankReport& rank : report.ranks) {
    EXPECT_EQ(rank.measures.p2p_wait_ns, 0);
    EXPECT_EQ(rank.measures.partition[Cause::transfer], 4);
  }
  EXPECT_EQ(report.unmatched, 0);
}

// The region is of all messages of the group: those without a partner, too, and those of rejected matches.
TEST(PipelineMessages, WithoutAPartnerBoundTheRegion) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  job.rank(0).compute(0, 10).send(1, 10, 14).in_group(group).compute(14, 20).send(1, 90, 92).in_group(group);
  job.rank(1).recv(0, 10, 14).in_group(group).compute(14, 20);
  job.rank(0).compute(100, 110);
  const Report report = analyzed(job).report;
  ASSERT_EQ(report.pipeline.size(), 1u);
  EXPECT_EQ(report.pipeline[0].region_ns, 92 - 10);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::pipeline_bubble], 90 - 20);
  EXPECT_EQ(report.unmatched, 1);
}

TEST(PipelineMessages, OfRejectedMatchesBoundTheRegion) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  job.rank(0).compute(0, 10).send(1, 50, 54).in_group(group).compute(60, 70);
  job.rank(1).compute(0, 10).recv(0, 10, 14).in_group(group).compute(60, 70);
  const Report report = analyzed(job).report;
  ASSERT_EQ(report.pipeline.size(), 1u);
  EXPECT_EQ(report.pipeline[0].region_ns, 54 - 10);
  EXPECT_EQ(report.unmatched, 2);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::pipeline_bubble], 50 - 10);
  EXPECT_EQ(report.ranks[1].measures.partition[Cause::pipeline_bubble], 54 - 14);
}

TEST(PipelineMessages, OfOneSideAloneBoundTheRegion) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  job.missing(1);
  job.rank(0).compute(0, 10).send(1, 10, 14).in_group(group).recv(1, 40, 44).in_group(group).compute(44, 50);
  const Report report = analyzed(job).report;
  ASSERT_EQ(report.pipeline.size(), 1u);
  EXPECT_EQ(report.pipeline[0].region_ns, 44 - 10);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::pipeline_bubble], 40 - 14);
  EXPECT_EQ(report.pipeline[0].bubble_ratio, std::nullopt);
  EXPECT_FALSE(report.ranks[0].measures.waits_known);
}

// A schedule that asks for all its messages at once waits in all of them at once: 3 × 40 ns of a rank's 50.
TEST(PipelineMessages, ThatOverlapCountEachInstantOnce) {
  JobBuilder job;
  const std::uint32_t group = job.group("pipeline", {0, 1});
  for (int message = 0; message < 3; ++message) {
    job.rank(0).recv(1, 0, 50).in_group(group);
    job.rank(1).send(0, 40, 50).in_group(group);
  }
  job.rank(1).compute(0, 40);
  const Report report = analyzed(job).report;
  ASSERT_EQ(report.groups.size(), 1u);
  const GroupOperation& messages = report.groups[0].operations.at(0);
  EXPECT_EQ(messages.wait_ns, 40);
  EXPECT_EQ(messages.transfer_ns, 10 + 10);
  EXPECT_EQ(messages.exposed_ns, 40 + 10 + 10);
  ASSERT_EQ(report.wait_states.size(), 1u);
  EXPECT_EQ(report.wait_states[0].wait_ns, 40);
  EXPECT_EQ(report.wait_states[0].waits, 3);
  EXPECT_EQ(report.wait_states[0].exposed_ns, 40);
  EXPECT_EQ(report.wait_states[0].worst_rank_ns, 40);
}

// Outside of a pipeline the same waiting is barrier wait.
TEST(PipelineMessages, OfAnotherGroupAreBarrierWait) {
  JobBuilder job;
  const std::uint32_t group = job.group("neighbours", {0, 1});
  job.rank(0).compute(0, 50).send(1, 50, 54).in_group(group);
  job.rank(1).recv(0, 10, 54).in_group(group);
  const Report report = analyzed(job).report;
  EXPECT_EQ(report.ranks[1].measures.partition[Cause::barrier_wait], 40);
  EXPECT_TRUE(report.pipeline.empty());
}

}  // namespace
}  // namespace lockstep::analyzer
