// Which rank is which stage, and which parts it holds, on small cases by hand; what doesn't divide is refused
// with what would.
#include "reference_trainer/modes/pipeline/layout.h"

#include <gtest/gtest.h>

#include "reference_trainer/modes/pipeline/mode.h"
#include "reference_trainer/modes/pipeline/options.h"

namespace lockstep::trainer {
namespace {

constexpr auto kInterleaved = PipelineSchedule::interleaved;
constexpr auto kOneForwardOneBackward = PipelineSchedule::one_forward_one_backward;

using Ranks = std::vector<int>;

TEST(PipelineLayout, StagesAreTheOutermostDimension) {
  const PipelineShape shape{.stages = 2};
  const PipelinePlace last_but_one = pipeline_place(shape, 6, 4);
  EXPECT_EQ(last_but_one.stage, 1);
  EXPECT_EQ(last_but_one.pipeline, 1);
  EXPECT_EQ(last_but_one.pipelines, 3);
  EXPECT_EQ(last_but_one.stage_ranks, (Ranks{1, 4}));
  EXPECT_EQ(last_but_one.copies, (Ranks{3, 4, 5}));
  const PipelinePlace only = pipeline_place({.stages = 4}, 4, 2);
  EXPECT_EQ(only.stage, 2);
  EXPECT_EQ(only.pipelines, 1);
  EXPECT_EQ(only.stage_ranks, (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(only.copies, Ranks{2});
}

std::string parts(const PipelineShape& shape, int layers, int model_stage) {
  const PartRange range = parts_of_model_stage(shape, layers, model_stage);
  return std::to_string(range.first) + "-" + std::to_string(range.last);
}

// Part 0 is the embedding, part n + 1 the head.
TEST(PipelineLayout, LayersAreSpreadEvenly) {
  const PipelineShape row{.stages = 3};
  EXPECT_EQ(parts(row, 6, 0), "0-2");
  EXPECT_EQ(parts(row, 6, 1), "3-4");
  EXPECT_EQ(parts(row, 6, 2), "5-7");
  const PipelineShape rounds{.schedule = kInterleaved, .stages = 2, .chunks = 2};
  EXPECT_EQ(parts(rounds, 4, 0), "0-1");
  EXPECT_EQ(parts(rounds, 4, 1), "2-2");
  EXPECT_EQ(parts(rounds, 4, 2), "3-3");
  EXPECT_EQ(parts(rounds, 4, 3), "4-5");
}

TEST(PipelineLayout, Defaults) {
  Options options;
  options.training.gradient_accumulation = 8;
  EXPECT_EQ(pipeline_shape(options, 4).stages, 4);
  EXPECT_EQ(pipeline_shape(options, 4).microbatches, 8);
  EXPECT_EQ(pipeline_shape(options, 4).chunks, 1);
  EXPECT_EQ(pipeline_shape(options, 4).schedule, kOneForwardOneBackward);
  options.own.get<PipelineOptions>() = {.stages = 2, .schedule = kInterleaved};
  EXPECT_EQ(pipeline_shape(options, 4).stages, 2);
  EXPECT_EQ(pipeline_shape(options, 4).chunks, 2);
  options.own.get<PipelineOptions>().chunks = 3;
  EXPECT_EQ(pipeline_shape(options, 4).chunks, 3);
}

TEST(PipelineLayout, PipelinesSideBySideAreReplicas) {
  Options options;
  options.own.get<PipelineOptions>().stages = 2;
  const MeshPlace place = Pipeline::mode.place(options, 6, 4);
  EXPECT_EQ(place.replica, 1);
  EXPECT_EQ(place.replicas, 3);
  EXPECT_EQ(place.stage, 1);
  EXPECT_EQ(place.stages, 2);
}

std::string refusal(const PipelineOptions& pipeline, int layers, int microbatches, int world_size) {
  Options options;
  options.model.layers = layers;
  options.training.gradient_accumulation = microbatches;
  options.own.get<PipelineOptions>() = pipeline;
  const Status status = check_pipeline(options, world_size);
  return status.ok() ? "" : status.error().message;
}

TEST(PipelineLayout, WhatDoesNotDivideIsRefusedWithWhatWould) {
  const PipelineOptions two{.stages = 2}, interleaved{.stages = 2, .schedule = kInterleaved};
  EXPECT_EQ(refusal(two, 6, 3, 4), "");
  EXPECT_EQ(refusal(interleaved, 8, 4, 4), "");
  EXPECT_EQ(refusal(two, 6, 4, 1), "--mode pipeline: one rank is no pipeline; give --ranks N");
  EXPECT_EQ(refusal(two, 6, 4, 5),
            "--pipeline-stages 2: 5 ranks can't be cut into pipelines of 2; 4 or 6 ranks would do");
  EXPECT_EQ(refusal({.stages = 4}, 8, 4, 2),
            "--pipeline-stages 4: 2 ranks can't be cut into pipelines of 4; 4 ranks would do");
  EXPECT_EQ(refusal(two, 5, 4, 2),
            "--layers 5: they can't be spread evenly over 2 stages; 4 or 6 layers would do");
  EXPECT_EQ(refusal(interleaved, 6, 4, 2),
            "--layers 6: they can't be spread evenly over 2 stages of 2 chunks; 4 or 8 layers would do");
  EXPECT_EQ(refusal(interleaved, 8, 5, 2),
            "--microbatches 5: --schedule interleaved takes them in rounds of --pipeline-stages 2; 4 or 6 "
            "would do");
}

}  // namespace
}  // namespace lockstep::trainer
