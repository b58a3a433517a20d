#include "analyzer/metrics/pipeline_schedule.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace lockstep::analyzer {
namespace {

using Code = PipelineReason::Code;

// "F0 F1 B0 B1"; "F0.1" is the forward of microbatch 0 through chunk 1.
std::vector<PassItem> items(const std::string& text) {
  std::vector<PassItem> result;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    PassItem item{word[0] == 'F', -1, 0};
    if (word.size() > 1) item.microbatch = word[1] - '0';
    if (word.size() > 3) item.chunk = word[3] - '0';
    result.push_back(item);
  }
  return result;
}

RecognisedSchedule of(const std::vector<std::string>& stages, std::int32_t chunks = 1) {
  std::vector<std::vector<PassItem>> all;
  for (const std::string& stage : stages) all.push_back(items(stage));
  return recognise(all, std::vector<std::int32_t>(stages.size(), chunks));
}

TEST(PipelineSchedule, GPipeRunsAllForwardsFirst) {
  for (const char* backwards : {"B0 B1 B2", "B2 B1 B0"}) {
    const std::string stage = std::string("F0 F1 F2 ") + backwards;
    const RecognisedSchedule found = of({stage, stage});
    EXPECT_EQ(found.schedule, Schedule::gpipe);
    EXPECT_EQ(found.microbatches, 3);
    EXPECT_EQ(found.reason.code, Code::none);
  }
}

TEST(PipelineSchedule, OneForwardOneBackward) {
  EXPECT_EQ(of({"F0 F1 B0 F2 B1 B2", "F0 B0 F1 B1 F2 B2"}).schedule, Schedule::one_forward_one_backward);
  // Fewer microbatches than stages.
  EXPECT_EQ(of({"F0 F1 B0 B1", "F0 F1 B0 B1", "F0 B0 F1 B1"}).schedule, Schedule::one_forward_one_backward);
  // One forward too many on the first stage; on the last one.
  EXPECT_EQ(of({"F0 F1 F2 B0 B1 B2", "F0 B0 F1 B1 F2 B2"}).schedule, Schedule::unknown);
  EXPECT_EQ(of({"F0 F1 B0 F2 B1 B2", "F0 F1 B0 B1 F2 B2"}).schedule, Schedule::unknown);
  // Backwards out of order.
  EXPECT_EQ(of({"F0 F1 B1 F2 B0 B2", "F0 B0 F1 B1 F2 B2"}).schedule, Schedule::unknown);
}

TEST(PipelineSchedule, InterleavedNeedsItsWarmUp) {
  // Two stages, two chunks, two microbatches: the first stage runs min(2 + 2, 4) forwards before the turns,
  // the last one 2.
  const std::vector<std::string> stages{"F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0",
                                        "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0"};
  const RecognisedSchedule found = of(stages, 2);
  EXPECT_EQ(found.schedule, Schedule::interleaved);
  EXPECT_EQ(found.microbatches, 2);
  EXPECT_EQ(found.chunks, 2);
  EXPECT_EQ(of({stages[0], stages[0]}, 2).schedule, Schedule::unknown);
}

TEST(PipelineSchedule, WhatIsUnknownSaysWhy) {
  EXPECT_EQ(of({"F0 B0 F1 B1", "F0 B0 F1 B1"}).reason.code, Code::order_unrecognised);
  const PipelineReason missing{Code::passes_missing, 0, 2};
  EXPECT_EQ(of({"F0 F1 B0", "F0 B0 F1 B1"}).reason, missing);
  EXPECT_EQ(of({"F0 F0 B0 B0", "F0 B0 F1 B1"}).reason, missing);
  EXPECT_EQ(of({"F B", "F B"}).reason.code, Code::microbatches_unnumbered);
  EXPECT_EQ(of({"F B", "F B"}).microbatches, std::nullopt);
  EXPECT_EQ(of({"", ""}).reason.code, Code::microbatches_unnumbered);
  const std::string stage = "F0.0 F0.1 B0.1 B0.0";
  EXPECT_EQ(recognise({items(stage), items("F0 B0")}, {2, 1}).reason,
            (PipelineReason{Code::chunks_differ, 1, 1, 2}));
  EXPECT_EQ(recognise({items(stage), items("F0.0 B0.0 F0.1 B0.1")}, {2, 2}).reason.code,
            Code::order_not_interleaved);
}

TEST(PipelineSchedule, Ideals) {
  EXPECT_DOUBLE_EQ(*ideal_bubble_ratio(Schedule::gpipe, 4, 8, 1), 3.0 / 11);
  EXPECT_DOUBLE_EQ(*ideal_bubble_ratio(Schedule::one_forward_one_backward, 2, 4, 1), 1.0 / 5);
  EXPECT_DOUBLE_EQ(*ideal_bubble_ratio(Schedule::interleaved, 4, 8, 2), 3.0 / 19);
  EXPECT_EQ(ideal_bubble_ratio(Schedule::unknown, 4, 8, 1), std::nullopt);
}

// Two stages with 2 chunks and 4 microbatches, all passes of a stage numbered through: 5 and 3 forwards
// first.
const std::vector<std::string> kTwoChunks{"F0 F1 F2 F3 F4 B0 F5 B1 F6 B2 F7 B3 B4 B5 B6 B7",
                                          "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7"};

RecognisedSchedule without_layers(const std::vector<std::string>& stages) {
  std::vector<std::vector<PassItem>> all;
  for (const std::string& stage : stages) all.push_back(items(stage));
  return recognise(all, std::vector<std::int32_t>(stages.size(), 1), false);
}

TEST(RecogniseWithoutLayers, TheWarmUpTellsTheChunks) {
  const RecognisedSchedule found = without_layers(kTwoChunks);
  EXPECT_EQ(found.schedule, Schedule::interleaved);
  EXPECT_EQ(found.microbatches, 4);
  EXPECT_EQ(found.chunks, 2);
  // Where layers are known, and are one block, it is no interleaving.
  EXPECT_EQ(of(kTwoChunks).schedule, Schedule::unknown);
}

// As torch.distributed.pipelining and Megatron-core number them: a microbatch comes once for each chunk.
TEST(RecogniseWithoutLayers, AMicrobatchThatComesAgainIsOfAnotherChunk) {
  const std::vector<std::string> stages{"F0 F1 F0 F1 F2 B0 F3 B1 F2 B0 F3 B1 B2 B3 B2 B3",
                                        "F0 F1 F0 B0 F1 B1 F2 B0 F3 B1 F2 B2 F3 B3 B2 B3"};
  const RecognisedSchedule found = without_layers(stages);
  EXPECT_EQ(found.schedule, Schedule::interleaved);
  EXPECT_EQ(found.microbatches, 4);
  EXPECT_EQ(found.chunks, 2);
  // Not equally often on every stage; not as often forward as backward.
  EXPECT_EQ(without_layers({stages[0], "F0 B0 F1 B1 F2 B2 F3 B3"}).schedule, Schedule::unknown);
  EXPECT_EQ(without_layers({"F0 F0 B0", "F0 F0 B0"}).schedule, Schedule::unknown);
  // A known layer says that it is one chunk.
  EXPECT_EQ(of(stages).schedule, Schedule::unknown);
}

// ZBV, ZB-H1 and their like: their order is not known, how many microbatches and chunks there are is. The
// first stage's two parts of B0 follow each other and are one item.
TEST(RecogniseWithoutLayers, WeightGradientsOfTheirOwnAreNoFurtherMicrobatches) {
  const RecognisedSchedule found =
      without_layers({"F0 F1 F0 F1 B0 B1 B0 B1 B0 B1 B1", "F0 F1 F0 B0 F1 B1 B0 B1 B0 B1 B0 B1"});
  EXPECT_EQ(found.schedule, Schedule::unknown);
  EXPECT_EQ(found.microbatches, 2);
  EXPECT_EQ(found.chunks, 2);
  EXPECT_EQ(found.reason.code, Code::backward_split);
  const RecognisedSchedule one_chunk = without_layers({"F0 F1 B0 B1 B0 B1", "F0 B0 F1 B1 B0 B1"});
  EXPECT_EQ(one_chunk.microbatches, 2);
  EXPECT_EQ(one_chunk.chunks, 1);
  EXPECT_EQ(one_chunk.reason.code, Code::backward_split);
  // Three times is neither.
  EXPECT_EQ(without_layers({"F0 F1 B0 B1 B0 B1 B0", "F0 F1 B0 B1 B0 B1 B0"}).reason,
            (PipelineReason{Code::passes_missing, 0, 2}));
}

TEST(RecogniseWithoutLayers, AnotherOrderTellsNoMicrobatches) {
  const RecognisedSchedule found = without_layers({kTwoChunks[0], kTwoChunks[0]});
  EXPECT_EQ(found.schedule, Schedule::unknown);
  EXPECT_EQ(found.microbatches, std::nullopt);
  const RecognisedSchedule plain = without_layers({"F0 F1 B0 F2 B1 B2", "F0 B0 F1 B1 F2 B2"});
  EXPECT_EQ(plain.schedule, Schedule::one_forward_one_backward);
  EXPECT_EQ(plain.microbatches, 3);
}

}  // namespace
}  // namespace lockstep::analyzer
