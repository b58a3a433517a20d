// Iterations of loops that train nothing, by their forward passes.
#include "analyzer/steps/iterations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

constexpr const char* kDdp = "DistributedDataParallel.forward";

// `count` iterations of 100 ns from 1000 on: a pass of 40 ns, and an all-gather.
void add_loop(RankBuilder& rank, int count, const std::string& name = kDdp) {
  for (int i = 0; i < count; ++i) {
    const Nanoseconds at = 1000 + i * 100;
    rank.host_range(at + 10, at + 50, name);
    rank.compute(at + 12, at + 50, "forward").launched(at + 12, at + 12);
    rank.all_reduce(at + 60, at + 90).launched(at + 55, at + 58);
  }
}

// With `kind` of all ranges.
std::optional<Iterations> find(JobBuilder& job, HostKind kind = HostKind::other) {
  Job built = job.build();
  for (HostRange& range : built.ranks[0].host_ranges)
    if (range.kind == HostKind::other) range.kind = kind;
  return find_iterations(built.ranks[0], built.strings);
}

TEST(Iterations, FromPassToPass) {
  JobBuilder job;
  add_loop(job.rank(0), 6);
  const auto found = find(job);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->boundaries, testing::ElementsAre(1010, 1110, 1210, 1310, 1410, 1510, 1610))
      << "the last one is as long as the others";
}

TEST(Iterations, BeginWithTheLoadingOfTheirData) {
  JobBuilder job;
  job.rank(0).data_loading(500, 510);
  for (int i = 0; i <= 6; ++i) job.rank(0).data_loading(1000 + i * 100, 1005 + i * 100);
  add_loop(job.rank(0), 6, "forward of Net");
  const auto found = find(job);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->boundaries, testing::ElementsAre(1000, 1100, 1200, 1300, 1400, 1500, 1600));
}

TEST(Iterations, OfSeveralModelsBeginWithTheFirst) {
  JobBuilder job;
  add_loop(job.rank(0), 6, "forward of Encoder");
  for (int i = 0; i < 6; ++i) {
    job.rank(0).host_range(1060 + i * 100, 1075 + i * 100, "forward of Decoder");
    job.rank(0).host_range(1080 + i * 100, 1095 + i * 100, "forward of Decoder");
  }
  const auto found = find(job);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->boundaries.size(), 7U);
  EXPECT_EQ(found->boundaries[2], 1210);
}

// Batches of different lengths, and passes that take as long.
TEST(Iterations, MayBeOfAnyLength) {
  JobBuilder job;
  const std::vector<Nanoseconds> begins{1000, 1900, 2000, 2050, 3500, 3600};
  for (const Nanoseconds at : begins) {
    job.rank(0).host_range(at, at + 40, "forward of GPT");
    job.rank(0).compute(at + 2, at + 40, "forward").launched(at + 2, at + 2);
  }
  const auto found = find(job);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->boundaries, testing::ElementsAre(1000, 1900, 2000, 2050, 3500, 3600, 3700))
      << "the last one is as long as the median";
}

// Calls in order, 10 ns each, by what stands for them; a space is a pause.
void add_calls(RankBuilder& rank, const std::string& calls, const std::string& prefix = "") {
  Nanoseconds at = 1000;
  for (const char call : calls) {
    if (call != ' ') {
      const std::string name = call == 'E' ? "Encoder_0" : call == 'D' ? "Decoder_0" : "Loss_0";
      rank.host_range(at, at + 8, prefix + name);
      rank.compute(at + 1, at + 8, "kernel").launched(at + 1, at + 1);
    }
    at += 10;
  }
}

TEST(Iterations, OfAGenerationHaveAsManyPassesOfTheDecoderAsTokens) {
  for (const bool are_modules : {false, true}) {
    JobBuilder job;
    add_calls(job.rank(0), "EDDD EDDDDDD ED EDD EDDDD EDD ", are_modules ? "" : "forward of ");
    const auto found = find(job, are_modules ? HostKind::module : HostKind::other);
    ASSERT_TRUE(found);
    EXPECT_THAT(found->boundaries, testing::ElementsAre(1000, 1050, 1130, 1160, 1200, 1260, 1310));
  }
}

TEST(Iterations, WithoutAPatternOfModulesAreNone) {
  JobBuilder job;
  add_calls(job.rank(0), "EDLEELDDLEDDEELLDELDDDLEE");
  EXPECT_FALSE(find(job, HostKind::module));
}

TEST(Iterations, AreTheOutermostCallsOfModulesWhereNothingNamesPasses) {
  JobBuilder job;
  add_loop(job.rank(0), 6, "GPT_0");
  for (int i = 0; i < 12; ++i)
    job.rank(0).host_range(1015 + i / 2 * 100 + i % 2 * 10, 1022 + i / 2 * 100 + i % 2 * 10, "GPT_0.Block_0");
  const auto found = find(job, HostKind::module);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->boundaries, testing::ElementsAre(1010, 1110, 1210, 1310, 1410, 1510, 1610));
}

// A pipeline's stages name the passes of microbatches, which are parts of a step.
TEST(Iterations, AreCallsOfModulesWhereOnlyMicrobatchesAreNamed) {
  JobBuilder job;
  add_loop(job.rank(0), 6, "forward");
  for (int i = 0; i < 6; ++i) job.rank(0).host_range(1005 + 100 * i, 1060 + 100 * i, "Stage_0");
  Job built = job.build();
  for (HostRange& range : built.ranks[0].host_ranges)
    if (built.strings.view(range.name) == "Stage_0") range.kind = HostKind::module;
  const auto found = find_iterations(built.ranks[0], built.strings);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->boundaries, testing::ElementsAre(1005, 1105, 1205, 1305, 1405, 1505, 1605));
}

TEST(Iterations, APassWithinAnotherIsAPartOfIt) {
  JobBuilder job;
  add_loop(job.rank(0), 6, "forward of Wrapper");
  for (int i = 0; i < 12; ++i)
    job.rank(0).host_range(1015 + i / 2 * 100 + i % 2 * 10, 1022 + i / 2 * 100 + i % 2 * 10, kDdp, 1);
  const auto found = find(job);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->boundaries.size(), 7U);
}

TEST(Iterations, WhatTrainsHasNone) {
  for (const char* const name : {"backward", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad",
                                 "autograd::engine::evaluate_function: AddmmBackward0"}) {
    JobBuilder job;
    add_loop(job.rank(0), 6);
    job.rank(0).host_range(3000, 3010, name);
    EXPECT_FALSE(find(job)) << name;
  }
}

TEST(Iterations, PassesThatWarmUpForSomethingElseAreNone) {
  JobBuilder job;
  add_loop(job.rank(0), 6);
  for (int i = 0; i < 20; ++i) job.rank(0).compute(5000 + i * 100, 5050 + i * 100, "replayed");
  EXPECT_FALSE(find(job));
}

TEST(Iterations, FourAreTooFew) {
  JobBuilder job;
  add_loop(job.rank(0), 4);
  EXPECT_FALSE(find(job));
}

TEST(Iterations, MicrobatchesOfAPipelineAreNone) {
  JobBuilder job;
  add_loop(job.rank(0), 6, "forward");
  for (int i = 0; i < 6; ++i) job.rank(0).host_range(1015 + i * 100, 1045 + i * 100, "forward of Stage", 1);
  EXPECT_FALSE(find(job));
}

}  // namespace
}  // namespace lockstep::analyzer
