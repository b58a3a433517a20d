// Steps of jobs that mark none.
#include "analyzer/steps/find_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/model/check_job.h"
#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

// `steps` iterations of 100 ns on two ranks: three kernels and an all-reduce, launched 50 ns ahead.
JobBuilder loop(int steps, int of_rank_1) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 5, "fill").launched(0, 1);
    for (int step = 0; step < (rank == 1 ? of_rank_1 : steps); ++step) {
      const Nanoseconds at = 1000 + step * 100;
      job.rank(rank).compute(at, at + 20, "embed").launched(at - 50, at - 49);
      job.rank(rank).compute(at + 20, at + 40, "layer").launched(at - 48, at - 47);
      job.rank(rank).compute(at + 40, at + 60, "layer").launched(at - 46, at - 45);
      job.rank(rank).all_reduce(at + 60, at + 90).launched(at - 44, at - 43);
    }
  }
  return job;
}

TEST(FindSteps, ByWhatRepeats) {
  Job job = loop(8, 8).build();
  find_steps(job);
  ASSERT_TRUE(check_job(job).ok());
  for (const RankTrace& rank : job.ranks) {
    ASSERT_EQ(rank.steps.size(), 8U);
    EXPECT_EQ(rank.steps[0].number, 0);
    EXPECT_EQ(rank.steps[3].begin, 1250);
    EXPECT_EQ(rank.steps[3].end, 1350);
    EXPECT_EQ(rank.activities[0].step, kNone) << "what was before";
    for (std::size_t i = 1; i < rank.activities.size(); ++i) EXPECT_EQ(rank.activities[i].step, (i - 1) / 4);
  }
  ASSERT_EQ(job.warnings.size(), 1U);
  EXPECT_EQ(job.warnings[0].code, "steps_found");
  EXPECT_THAT(job.warnings[0].message, HasSubstr("8 were found by what repeats in the ranks' launches"));
}

// Seen of k-means: three all-reduces in an iteration, and no computation that the trace knows.
TEST(FindSteps, CollectivesOfOneNameAreToldApartByTheirSize) {
  const auto job_of = [](std::vector<std::int64_t> sizes) {
    JobBuilder builder;
    for (std::int32_t rank = 0; rank < 2; ++rank)
      for (int step = 0; step < 8; ++step)
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          const Nanoseconds at = 1000 + step * 100 + static_cast<Nanoseconds>(i) * 10;
          builder.rank(rank).all_reduce(at, at + 5).launched(at, at + 1).bytes(sizes[i]);
        }
    Job job = builder.build();
    find_steps(job);
    return job;
  };
  const Job job = job_of({12288, 256, 4});
  for (const RankTrace& rank : job.ranks) {
    ASSERT_EQ(rank.steps.size(), 8U);
    EXPECT_EQ(rank.steps[3].begin, 1300);
    EXPECT_EQ(rank.activities[10].step, 3U);
  }
  EXPECT_TRUE(job_of({256, 256, 256}).ranks[0].steps.empty()) << "nobody knows how many are one iteration";
}

// A thread on a CPU that is interrupted computes one pass in several pieces: in other ones in each iteration.
TEST(FindSteps, PiecesOfAPassOnACpuAreOne) {
  JobBuilder builder;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    builder.rank(rank).trace().device = "cpu";
    for (int step = 0; step < 8; ++step) {
      const Nanoseconds at = 1000 + step * 100, cut = at + 10 + (step * 7 + rank) % 13;
      builder.rank(rank).compute(at, cut, "backward").launched(at, at);
      if (step % 3 != rank) builder.rank(rank).compute(cut, at + 30, "backward").launched(cut, cut);
      for (const Nanoseconds later : {30, 60}) {
        builder.rank(rank).all_reduce(at + later, at + later + 20).launched(at + later, at + later);
        builder.rank(rank)
            .compute(at + later + 20, at + later + 30, "forward")
            .launched(at + later + 20, at + later + 20);
      }
    }
  }
  Job job = builder.build();
  find_steps(job);
  for (const RankTrace& rank : job.ranks) {
    ASSERT_EQ(rank.steps.size(), 8U);
    EXPECT_EQ(rank.steps[3].begin, 1300);
    for (const Activity& activity : rank.activities)
      EXPECT_EQ(activity.step, static_cast<std::uint32_t>((activity.begin - 1000) / 100));
  }
}

TEST(FindSteps, RanksThatDisagreeHaveNone) {
  Job job = loop(8, 9).build();
  find_steps(job);
  EXPECT_TRUE(job.ranks[0].steps.empty());
  EXPECT_TRUE(job.ranks[1].steps.empty());
  EXPECT_TRUE(job.warnings.empty());
}

TEST(FindSteps, DumpsOfAFlightRecorderGetNone) {
  Job job = loop(8, 8).build();
  job.dumps = Dumps::all;
  find_steps(job);
  EXPECT_TRUE(job.ranks[0].steps.empty());
}

TEST(FindSteps, WhatIsMarkedStays) {
  JobBuilder builder = loop(8, 8);
  builder.rank(0).step(7, 0, 2000);
  Job job = builder.build();
  find_steps(job);
  EXPECT_EQ(job.ranks[0].steps.size(), 1U);
  EXPECT_TRUE(job.ranks[1].steps.empty());
}

TEST(FindSteps, ByTheOptimizerBeforeAnythingElse) {
  JobBuilder builder = loop(8, 8);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    for (int step = 0; step < 8; ++step) {
      const Nanoseconds at = 1000 + step * 100;
      builder.rank(rank).host_range(at + 20, at + 24, "Optimizer.step#SGD.step");
      builder.rank(rank).host_range(at + 30, at + 45, "Optimizer.step#AdamW.step");
    }
  }
  Job job = builder.build();
  find_steps(job);
  ASSERT_TRUE(check_job(job).ok());
  ASSERT_EQ(job.ranks[0].steps.size(), 7U) << "from the first end to the last";
  EXPECT_EQ(job.ranks[0].steps[0].begin, 1045);
  EXPECT_EQ(job.ranks[0].steps[0].end, 1145);
  EXPECT_EQ(job.ranks[0].activities[1].step, kNone);
  EXPECT_EQ(job.ranks[0].activities[5].step, 0U) << "launched at 1050";
  EXPECT_THAT(job.warnings[0].message, HasSubstr("the optimizer"));
}

JobBuilder passes_of_loop(int of_rank_1) {
  JobBuilder builder = loop(8, 8);
  for (std::int32_t rank = 0; rank < 2; ++rank)
    for (int i = 0; i < (rank == 1 ? of_rank_1 : 8); ++i)
      builder.rank(rank).host_range(950 + i * 100, 954 + i * 100, "DistributedDataParallel.forward");
  return builder;
}

TEST(FindSteps, ByForwardPassesWhereNothingTrains) {
  Job job = passes_of_loop(8).build();
  find_steps(job);
  ASSERT_TRUE(check_job(job).ok());
  ASSERT_EQ(job.ranks[1].steps.size(), 8U);
  EXPECT_EQ(job.ranks[1].steps[1].begin, 1050);
  EXPECT_EQ(job.ranks[1].activities[5].step, 1U);
  EXPECT_THAT(job.warnings[0].message,
              HasSubstr("8 were found by the forward passes of a loop without an optimizer "
                        "(`DistributedDataParallel.forward`)"));
}

TEST(FindSteps, ByWhatRepeatsWhereTheRanksPassesDiffer) {
  Job job = passes_of_loop(7).build();
  find_steps(job);
  ASSERT_EQ(job.warnings.size(), 1U);
  EXPECT_THAT(job.warnings[0].message, HasSubstr("what repeats"));
}

TEST(FindSteps, ByReplaysOfAGraph) {
  JobBuilder builder;
  for (int step = 0; step < 6; ++step) {
    for (int kernel = 0; kernel < 10; ++kernel)
      builder.rank(0)
          .compute(1000 * step + 10 * kernel, 1000 * step + 10 * kernel + 8,
                   "kernel" + std::to_string(kernel % 3))
          .launched(1000 * step - 20, 1000 * step - 10);
    builder.rank(0)
        .compute(1000 * step + 500, 1000 * step + 600, "sample")
        .launched(1000 * step, 1000 * step + 1);
  }
  Job job = builder.build();
  find_steps(job);
  ASSERT_EQ(job.ranks[0].steps.size(), 6U);
  EXPECT_EQ(job.ranks[0].activities[10].step, 0U);
  EXPECT_EQ(job.ranks[0].activities[11].step, 1U);
  EXPECT_THAT(job.warnings[0].message, HasSubstr("replays of CUDA graphs"));
}

}  // namespace
}  // namespace lockstep::analyzer
