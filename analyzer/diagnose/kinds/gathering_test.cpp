// Jobs that gather their parameters too late, held back or needlessly, and those that do it well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/sharded_jobs.h"
#include "analyzer/diagnose/sharded_steps.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

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

// Seen of gradients of which each rank keeps the largest and gathers the others': "compute waits while
// parameters are gathered", in a program that shards nothing.
TEST(Sharding, WhatIsGatheredBesideReducedGradientsAreNoParameters) {
  Job job = sharded_job({}).build();
  for (RankTrace& rank : job.ranks)
    for (Communication& operation : rank.communications)
      if (operation.operation == Operation::reduce_scatter) operation.operation = Operation::all_reduce;
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("prefetch_off")));
  // Nor are they scattered where the process group has no reduce-scatter; FSDP says so itself.
  job.ranks[0].host_ranges.push_back(
      {0, 1, job.strings.intern("FSDP::pre_forward (layer)"), 0, 0, HostKind::other});
  EXPECT_THAT(codes_of(report_of(job).findings), Contains("prefetch_off"));
}

TEST(Sharding, GatheringALittleAheadIsShallow) {
  const Report report = report_of(sharded_job({.ahead_us = 50}));
  // The first layer of a step has nothing to hide behind but the step before, where the stream of all-gathers
  // is free.
  EXPECT_GE(finding(report, "prefetch_shallow").lost_ns, 4 * 4 * 2 * 50 * us);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("prefetch_off")));
}

// Seen of FSDP2: the longest transfer of a step was a reduce-scatter's.
TEST(Sharding, WhatGathersIsSeenInAnAllGather) {
  const Report report = report_of(sharded_job({.scatter_us = 500}));
  const Finding found = finding(report, "prefetch_off");
  ASSERT_TRUE(found.place.has_value() && found.place->collective.has_value());
  EXPECT_EQ(report.collectives.at(static_cast<std::size_t>(*found.place->collective)).operation,
            Operation::all_gather);
}

// Seen of FSDP2 on Gloo, which gathers when a layer waits: where cores were busy, the thread that computed
// went on beside some gathers, and compute covered a fifth of them.
TEST(Sharding, AFewThatComputeHappensToCoverAreNotGatheredAhead) {
  Job job = sharded_job({}).build();
  for (RankTrace& rank : job.ranks)
    for (Activity& activity : rank.activities)
      if (activity.compute != kNone && rank.computations[activity.compute].layer == 0)
        activity.end += 100 * us;
  const Report report = report_of(job);
  EXPECT_THAT(finding(report, "prefetch_off").evidence.at(1), HasSubstr("(20.0 %)"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("prefetch_shallow")));
}

// There FSDP waits for an all-gather where it is issued, be it ahead of the layer before or not.
TEST(Sharding, OnCpusNobodySaysThatNothingIsPrefetched) {
  for (const Nanoseconds ahead_us : {0, 50}) {
    Job job = sharded_job({.ahead_us = ahead_us}).build();
    for (RankTrace& rank : job.ranks) rank.device = "cpu";
    const Finding found = finding(report_of(job), ahead_us == 0 ? "prefetch_off" : "prefetch_shallow");
    EXPECT_EQ(found.title, "compute waits while parameters are gathered");
    EXPECT_THAT(found.remedy, HasSubstr("reshard_after_forward=False"));
    EXPECT_THAT(found.remedy, Not(HasSubstr("set_modules_to_forward_prefetch")));
  }
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
  // Where waiting was recorded, and none in these times, the host did something else.
  Job busy = sharded_job({.gather_us = 150, .after_us = 2, .halves = true}).build();
  for (RankTrace& rank : busy.ranks) {
    Activity wait = rank.activities.front();
    wait.activity_class = Class::sync;
    wait.communication = wait.compute = kNone;
    wait.end = wait.begin + us;
    rank.activities.insert(rank.activities.begin(), wait);
    for (Communication& communication : rank.communications) ++communication.activity;
  }
  EXPECT_THAT(codes_of(report_of(busy).findings), Not(Contains("all_gathers_throttled")));
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

TEST(Sharding, WordsTellTensorParallelism) {
  EXPECT_TRUE(is_tensor_parallel("tp_group_0", ""));
  EXPECT_TRUE(is_tensor_parallel("7", "TENSOR_MODEL_PARALLEL_GROUP"));
  EXPECT_TRUE(is_tensor_parallel("", "mesh_tp"));
  EXPECT_FALSE(is_tensor_parallel("http", "endpoint"));
  EXPECT_FALSE(is_tensor_parallel("dp", "data_parallel"));
}

}  // namespace
}  // namespace lockstep::analyzer
