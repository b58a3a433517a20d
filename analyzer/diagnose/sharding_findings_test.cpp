// Jobs that gather their parameters too late, held back or needlessly, and those that do it well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/sharded_steps.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Sharded {
  Nanoseconds ahead_us = 0;        // how long before its layer's compute is due each all-gather starts
  Nanoseconds gather_us = 100;     // how long it takes
  Nanoseconds launched_ahead = 0;  // µs between its launch and its start
  std::int64_t bytes = std::int64_t{4} << 30;
  const char* group = "fsdp";
  Nanoseconds scatter_us = 5;
  Nanoseconds after_us = 0;  // how long after what it follows each all-gather starts
  bool halves = false;       // a layer computes twice for 100 µs, and all-gathers follow the first half
};

// Four steps on two ranks, of five layers that compute for 200 µs each; before each, its parameters are
// gathered. A layer begins when the layer before is over and its parameters are there.
JobBuilder sharded_job(const Sharded& how) {
  JobBuilder job;
  const std::uint32_t group = job.group(how.group, {0, 1});
  Nanoseconds now = 1000 * us;
  for (int step = 0; step < 4; ++step) {
    const Nanoseconds begin = now;
    for (int rank = 0; rank < 2; ++rank) job.rank(rank).step(step, begin, begin + 1);
    Nanoseconds gathered = begin;  // when the stream of all-gathers is free
    for (int layer = 0; layer < 5; ++layer) {
      const Nanoseconds ahead = (how.halves ? 100 : how.ahead_us) * us;
      const Nanoseconds start = std::max(gathered, now - ahead) + how.after_us * us;
      gathered = start + how.gather_us * us;
      const Nanoseconds compute = std::max(now, gathered);
      for (int rank = 0; rank < 2; ++rank) {
        const Nanoseconds launch = start - how.launched_ahead * us;
        job.rank(rank)
            .collective(Operation::all_gather, start, gathered)
            .launched(launch - 1000, launch - 500)
            .in_group(group)
            .bytes(how.bytes)
            .of(DataType::bfloat16)
            .in_step(static_cast<std::uint32_t>(step));
        const Nanoseconds length = (how.halves ? 100 : 200) * us;
        for (Nanoseconds part = compute; part < compute + 200 * us; part += length) {
          job.rank(rank)
              .forward(layer, -1, part, part + length)
              .launched(launch - 400, launch - 300)
              .in_step(static_cast<std::uint32_t>(step));
        }
      }
      now = compute + 200 * us;
    }
    for (int rank = 0; rank < 2; ++rank) {
      job.rank(rank)
          .collective(Operation::reduce_scatter, now, now + how.scatter_us * us)
          .launched(now - 900, now - 800)
          .in_group(group)
          .bytes(1000)
          .in_step(static_cast<std::uint32_t>(step));
      job.rank(rank).trace().steps.back().end = now + how.scatter_us * us;
    }
    now += how.scatter_us * us;
  }
  return job;
}

TEST(Sharding, GatheringWhenALayerWaitsIsNoPrefetch) {
  const Report report = report_of(sharded_job({}));
  const Finding found = finding(report, "prefetch_off");
  // 5 layers, 4 steps, 2 ranks.
  EXPECT_EQ(found.lost_ns, 5 * 4 * 2 * 100 * us);
  EXPECT_THAT(found.evidence.at(0), HasSubstr("5 all_gathers a step, 21.5 GB together (medians of 4 steps)"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("no_overlap"))) << "it says the same";
  EXPECT_THAT(codes_of(report.findings), Not(Contains("prefetch_shallow")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("exposed_transfer")));
}

TEST(Sharding, GatheringALittleAheadIsShallow) {
  const Report report = report_of(sharded_job({.ahead_us = 50}));
  // The first layer of a step has nothing to hide behind but the step before, where the stream of all-gathers
  // is free.
  EXPECT_GE(finding(report, "prefetch_shallow").lost_ns, 4 * 4 * 2 * 50 * us);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("prefetch_off")));
}

TEST(Sharding, GatheringInTimeIsNoFinding) {
  const Report report = report_of(sharded_job({.ahead_us = 150}));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("prefetch_off")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("prefetch_shallow")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("all_gathers_throttled")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("sharding_not_needed")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("reduce_scatter_exposed")));
}

// As ZeRO's first two stages do.
TEST(Sharding, GatheringAllInARowAfterTheOptimizerIsNoLackOfPrefetch) {
  JobBuilder job;
  const std::uint32_t group = job.group("dp", {0, 1});
  for (int rank = 0; rank < 2; ++rank) {
    for (std::uint32_t step = 0; step < 4; ++step) {
      const Nanoseconds begin = 2000 * us * step;
      job.rank(rank).step(step, begin, begin + 1900 * us);
      job.rank(rank).compute(begin, begin + 1000 * us).launched(begin, begin + 1);
      for (int bucket = 0; bucket < 5; ++bucket) {
        const Nanoseconds start = begin + (1000 + 100 * bucket) * us;
        job.rank(rank)
            .collective(Operation::all_gather, start, start + 99 * us)
            .launched(begin, begin + 1)
            .in_group(group);
      }
    }
  }
  const Report report = report_of(job);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("prefetch_off")));
  EXPECT_THAT(codes_of(report.findings), Contains("no_overlap"));
}

TEST(Sharding, WhatTensorParallelismGathersIsNeededAtOnce) {
  const Report report = report_of(sharded_job({.group = "mp tp"}));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("prefetch_off")));
}

TEST(Sharding, AHostThatWaitsBeforeItLaunchesThrottles) {
  // Each is launched 1 µs after the first of two computations is over: the host waited for that.
  const Report held = report_of(sharded_job({.gather_us = 150, .after_us = 2, .halves = true}));
  const Finding found = finding(held, "all_gathers_throttled");
  EXPECT_THAT(found.evidence.back(), HasSubstr("of 40 all_gathers"));
  EXPECT_GT(found.lost_ns, 0);
  EXPECT_THAT(codes_of(held.findings), Contains("prefetch_shallow"));
  // Nothing is gathered ahead: then it is not the holding back that costs.
  const Report late = report_of(sharded_job({.after_us = 2}));
  EXPECT_THAT(codes_of(late.findings), Not(Contains("all_gathers_throttled")));
  EXPECT_THAT(codes_of(late.findings), Contains("prefetch_off"));
}

TEST(Sharding, AModelThatFitsNeedNotBeGathered) {
  // 5 times 10 MiB of bfloat16: at most 26 million parameters, 419 MB with all their state.
  const Report small = report_of(sharded_job({.bytes = 10 << 20}));
  EXPECT_THAT(finding(small, "sharding_not_needed").evidence.back(),
              HasSubstr("at most 26,214,400 parameters: kept whole with gradients and Adam's state in mixed "
                        "precision (16 bytes each) they take 419 MB"));
  const Report large = report_of(sharded_job({}));
  EXPECT_THAT(codes_of(large.findings), Not(Contains("sharding_not_needed")))
      << "5 times 4 GiB do not fit anywhere";
}

TEST(Sharding, TheLastScatterOfAStepHasNothingToHideBehind) {
  const Report report = report_of(sharded_job({.ahead_us = 150, .scatter_us = 80}));
  const Finding found = finding(report, "reduce_scatter_exposed");
  EXPECT_LE(found.lost_ns, 4 * 2 * 80 * us);
  EXPECT_GE(found.lost_ns, 3 * 2 * 80 * us);
  EXPECT_THAT(found.evidence.at(0), HasSubstr("of the last of 1 reduce_scatter a step"));
}

TEST(Sharding, WordsTellTensorParallelism) {
  EXPECT_TRUE(is_tensor_parallel("tp_group_0", ""));
  EXPECT_TRUE(is_tensor_parallel("7", "TENSOR_MODEL_PARALLEL_GROUP"));
  EXPECT_TRUE(is_tensor_parallel("", "mesh_tp"));
  EXPECT_FALSE(is_tensor_parallel("http", "endpoint"));
  EXPECT_FALSE(is_tensor_parallel("dp", "data_parallel"));
}

}  // namespace
}  // namespace lockstep::analyzer
