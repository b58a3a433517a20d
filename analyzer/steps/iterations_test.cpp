// Iterations of loops that train nothing, by their forward passes.
#include "analyzer/steps/iterations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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

std::optional<Iterations> find(JobBuilder& job) {
  const Job built = job.build();
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
