// Findings and warnings of hand-made jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Findings, APersistentStraggler) {
  const Report report = report_of(straggling_job(4, 2, 100));
  const Finding straggler = finding(report, "straggler_persistent");
  EXPECT_THAT(straggler.title, HasSubstr("rank 2 arrives last in 4 of 4 collectives"));
  EXPECT_EQ(straggler.lost_ns, 4 * (102 + 101 + 99) * us);
  std::int64_t windows = 0;
  for (const RankReport& rank : report.ranks) windows += rank.measures.window_ns;
  EXPECT_DOUBLE_EQ(straggler.lost_share,
                   static_cast<double>(straggler.lost_ns) / static_cast<double>(windows));
  EXPECT_THAT(straggler.evidence, Contains(HasSubstr("it computed for 402 µs")));
  EXPECT_THAT(straggler.evidence, Contains(HasSubstr("1.21 ms for it, and compute hid none of it")));
}

TEST(Findings, WaitingUnderComputeIsNoLoss) {
  JobBuilder job = straggling_job(4, 2, 100);
  for (std::int32_t rank : {0, 1, 3}) job.rank(rank).compute(0, 4000 * us, "other stream").launched(-2, -1);
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("straggler_persistent")));
}

TEST(Findings, ABalancedJobHasNone) {
  JobBuilder job;
  for (int step = 0; step < 8; ++step) {
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      const Nanoseconds begin = step * 1000 * us;
      job.rank(rank).step(step, begin, begin + 999 * us);
      job.rank(rank).compute(begin, begin + 980 * us).launched(begin, begin + 1);
      // Each is last in turn, under compute.
      const Nanoseconds arrival = begin + (step % 4 == rank ? 510 : 500) * us;
      job.rank(rank).all_reduce(arrival, begin + 600 * us).launched(begin + 2, begin + 3);
    }
  }
  EXPECT_THAT(codes_of(report_of(job).findings), IsEmpty());
}

// Two ranks, `count` all-reduces of `bytes` a step after the whole of compute, each `transfer` long.
JobBuilder bucketed_job(int count, std::int64_t bytes, Nanoseconds transfer, std::int64_t first_bytes,
                        Nanoseconds first) {
  JobBuilder job;
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds begin = step * 100'000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      RankBuilder& builder = job.rank(rank);
      builder.step(step, begin, begin + 90'000 * us);
      builder.compute(begin, begin + 10'000 * us).launched(begin, begin + 1);
      Nanoseconds at = begin + 10'000 * us;
      for (int i = 0; i < count; ++i) {
        const Nanoseconds end = at + (i == 0 ? first : transfer);
        builder.all_reduce(at, end).bytes(i == 0 ? first_bytes : bytes).launched(begin + 2, begin + 3);
        at = end;
      }
    }
  }
  return job;
}

TEST(Findings, OneLargeBucketIsTooLarge) {
  const Report report = report_of(bucketed_job(1, 0, 0, 80 << 20, 4000 * us));
  const Finding large = finding(report, "buckets_too_large");
  EXPECT_THAT(large.remedy, HasSubstr("bucket_cap_mb=10"));  // 80 MiB in eight
  EXPECT_EQ(large.lost_ns, 2 * 3 * 4000 * us);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("no_overlap")));
}

TEST(Findings, ManySmallBucketsAreTooSmall) {
  // 100 µs to start one, then 1 byte a ns: 10 kB take 110 µs, the first, of 400 kB, 500 µs.
  const Report report = report_of(bucketed_job(40, 10'000, 110 * us, 400'000, 500 * us));
  const Finding small = finding(report, "buckets_too_small");
  EXPECT_THAT(small.evidence, Contains(HasSubstr("starting one costs 100 µs, moving 10.0 kB costs 10.0 µs")));
  // All but eight of them a step, on both ranks.
  EXPECT_EQ(small.lost_ns, 2 * 3 * 32 * 100 * us);
}

// Three buckets a step; the first, of 8 MiB, starts when 80 % of the time until the last one starts has
// passed.
TEST(Findings, ALargeFirstBucketStartsLate) {
  for (const Nanoseconds first_start : {8000 * us, 3000 * us}) {
    JobBuilder job;
    for (int step = 0; step < 3; ++step) {
      const Nanoseconds begin = step * 20'000 * us;
      for (std::int32_t rank = 0; rank < 2; ++rank) {
        RankBuilder& builder = job.rank(rank);
        builder.step(step, begin, begin + 19'000 * us);
        builder.compute(begin, begin + 9000 * us).launched(begin, begin + 1);
        for (const Nanoseconds at : {first_start, 9000 * us, 10'000 * us}) {
          builder.all_reduce(begin + at, begin + at + 1000 * us)
              .bytes(8 << 20)
              .launched(begin + 2, begin + 3);
        }
      }
    }
    const Report report = report_of(job);
    if (first_start == 3000 * us) {
      EXPECT_THAT(codes_of(report.findings), Not(Contains("first_bucket_late")));
      continue;
    }
    const Finding late = finding(report, "first_bucket_late");
    EXPECT_THAT(late.evidence, Contains(HasSubstr("starts after 80.0 % of the time")));
    EXPECT_EQ(late.lost_ns, 2 * 3 * 1000 * us);
  }
}

TEST(Findings, BucketsOfASensibleSizeAreNoFinding) {
  const Report report = report_of(bucketed_job(8, 10 << 20, 1000 * us, 1 << 20, 110 * us));
  EXPECT_THAT(codes_of(report.findings), Not(Contains(HasSubstr("bucket"))));
}

TEST(Findings, NothingHiddenAtAll) {
  const Report report = report_of(bucketed_job(8, 10 << 20, 1000 * us, 1 << 20, 110 * us));
  EXPECT_THAT(codes_of(report.findings), Contains("no_overlap"));
  EXPECT_EQ(finding(report, "no_overlap").lost_ns, 2 * 3 * 7110 * us);
}

// Two ranks compute and reduce in turn, and all the reducing is moving data: hidden in part, so that no rule
// about overlap speaks.
TEST(Findings, AGreatLossIsNeverWithoutAWord) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 500 * us).launched(-2, -1).all_reduce(400 * us, 900 * us).launched(1, 2);
  }
  const Finding transfer = finding(report_of(job), "exposed_transfer");
  EXPECT_EQ(transfer.lost_ns, 2 * 400 * us);
  EXPECT_THAT(transfer.evidence, Contains(HasSubstr("transfer of all_reduce: 1.00 ms in 1 operation")));
  EXPECT_THAT(transfer.remedy, HasSubstr("all_reduce_perf"));
}

// The same job, its ranks on two hosts: 1 MB each way in 0.5 ms, of which a ring of two sends half twice.
TEST(Findings, TransferBetweenHostsNamesThemAndWhatTheirLinksCarry) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).trace().host = rank == 0 ? "alpha" : "beta";
    job.rank(rank).compute(0, 500 * us).launched(-2, -1);
    job.rank(rank).all_reduce(400 * us, 900 * us).bytes(1'000'000).launched(1, 2);
  }
  const Report report = report_of(job);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("exposed_transfer")));
  const Finding link = finding(report, "slow_link");
  EXPECT_EQ(link.lost_ns, 2 * 400 * us);
  EXPECT_THAT(link.evidence,
              Contains(HasSubstr("between hosts alpha, beta: each rank's link carries 2.00 GB/s")));
  EXPECT_THAT(link.remedy, HasSubstr("HYBRID_SHARD"));
}

TEST(Findings, TransferThatMayBeWaitingIsNotCalledTransfer) {
  JobBuilder job;
  job.missing(1);
  job.rank(0).compute(0, 500 * us).launched(-2, -1).all_reduce(400 * us, 900 * us).launched(1, 2);
  EXPECT_THAT(codes_of(report_of(job).findings), testing::ElementsAre("exposed_communication"));
}

// The three ranks take turns in being late by 300 µs.
TEST(Findings, WaitingThatNobodyAloneIsToBlameFor) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    for (std::int32_t turn = 0; turn < 3; ++turn) {
      const Nanoseconds begin = turn * 1000 * us, late = turn == rank ? 300 * us : 0;
      job.rank(rank).compute(begin, begin + 500 * us + late).launched(begin - 2, begin - 1);
      job.rank(rank).all_reduce(begin + 500 * us + late, begin + 810 * us).launched(begin - 2, begin - 1);
    }
  }
  EXPECT_THAT(finding(report_of(job), "imbalance").title, HasSubstr("no single one"));
}

// A start-up that took rank 1 longer: the others wait for it, once.
TEST(Findings, WaitingOnceForOneRankNamesIt) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const Nanoseconds late = rank == 1 ? 5000 * us : 0;
    job.rank(rank).compute(0, 500 * us + late).launched(-2, -1);
    job.rank(rank).all_reduce(500 * us + late, 5600 * us).launched(-2, -1);
  }
  const Finding found = finding(report_of(job), "imbalance");
  EXPECT_THAT(found.title, HasSubstr("the others wait for rank 1"));
  EXPECT_THAT(found.remedy, HasSubstr("what rank 1 did before"));
}

TEST(Findings, MismatchedCollectivesAreNamedWithBothSides) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  job.rank(0).all_reduce(0, 90).in_group(dp).sequence(3).bytes(400).of(DataType::float32);
  job.rank(1).all_reduce(1, 90).in_group(dp).sequence(3).bytes(400).of(DataType::bfloat16);
  const Finding mismatch = finding(report_of(job), "mismatched_collectives");
  EXPECT_THAT(mismatch.evidence,
              ElementsAre("group dp, sequence number 3: rank 0 all_reduce of 400 B float32, rank 1 "
                          "all_reduce of 400 B bfloat16"));
}

// Two ranks that call the same four operations, two of them the other way round.
TEST(Findings, CollectivesInDifferentOrderAreSaidToBeThat) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  const int order[2][4] = {{100, 200, 300, 400}, {100, 300, 200, 400}};
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    for (int k = 0; k < 4; ++k)
      job.rank(rank).all_reduce(k * 100 * us, (k * 100 + 90) * us).in_group(dp).bytes(order[rank][k]);
  }
  const Report report = report_of(job);
  ASSERT_FALSE(report.findings.empty());
  // First, whatever was lost: such a job hangs or computes nonsense.
  EXPECT_EQ(report.findings[0].code, "mismatched_collectives");
  EXPECT_THAT(report.findings[0].title, testing::HasSubstr("in different order"));
  EXPECT_THAT(report.findings[0].remedy, testing::HasSubstr("same order on every rank"));
}

// All ranks are there: nobody is asked to record them.
TEST(Findings, RanksThatDoNotMatchAreNotCalledMissing) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    for (int k = 0; k < 4; ++k)
      job.rank(rank).all_reduce(k * 100 * us, (k * 100 + 90) * us).in_group(dp).bytes(100 + rank + k);
  }
  const Finding exposed = finding(report_of(job), "exposed_communication");
  EXPECT_THAT(exposed.title, testing::HasSubstr("do not match"));
  EXPECT_THAT(exposed.remedy, testing::Not(testing::HasSubstr("record all ranks")));
}

// Rank 2 is 100 µs late in step 1, 300 in step 2 and 200 in step 3.
TEST(Findings, APlaceInTheTraceShowsEachAtItsWorst) {
  JobBuilder job;
  const Nanoseconds late[] = {100 * us, 300 * us, 200 * us};
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds begin = step * 2000 * us;
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      const Nanoseconds end = begin + 500 * us + (rank == 2 ? late[step] : rank * us);
      job.rank(rank).step(step + 1, begin, begin + 1900 * us);
      job.rank(rank).compute(begin, end).launched(begin, begin + 1);
      job.rank(rank).all_reduce(end, begin + 850 * us).launched(begin + 1, begin + 2);
    }
  }
  const Finding straggler = finding(report_of(job), "straggler_persistent");
  EXPECT_EQ(straggler.rank, 2);
  ASSERT_TRUE(straggler.place);
  EXPECT_EQ(straggler.place->rank, 0);  // that waits longest for it
  EXPECT_EQ(straggler.place->step, 2);
  EXPECT_EQ(straggler.place->collective, 1);
  EXPECT_EQ(straggler.place->begin_ns, 2500 * us);
  EXPECT_EQ(straggler.place->end_ns, 2850 * us);
}

TEST(Findings, ASmallLossIsANote) {
  // 4 of 900 µs a step and of three ranks each: 1.3 % of all.
  const Finding straggler = finding(report_of(straggling_job(8, 2, 14)), "straggler_persistent");
  EXPECT_LT(straggler.lost_share, 0.02);
  EXPECT_EQ(straggler.severity, "note");
  EXPECT_EQ(straggler.cause, Cause::barrier_wait);
}

TEST(Findings, ClocksTooUncertainToNameAnyone) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 10 * us).all_reduce((100 + 50 * rank) * us, 200 * us);
    job.rank(rank).trace().host = rank == 0 ? "a" : "b";
    job.rank(rank).trace().clock.uncertainty_ns = 100 * us;
  }
  EXPECT_THAT(codes_of(report_of(job).findings), Contains("clock_uncertain"));
}

TEST(Warnings, SayWhatIsNotKnown) {
  JobBuilder alone;
  alone.rank(0).compute(0, 10).all_reduce(20, 30).unclassified(40, 50);
  EXPECT_THAT(codes_of(report_of(alone).warnings),
              ElementsAre("no_steps", "single_rank", "unclassified", "launches_missing"));
  JobBuilder silent;
  silent.missing(1).rank(0).compute(0, 10);
  EXPECT_THAT(codes_of(report_of(silent).warnings),
              ElementsAre("no_steps", "no_communication", "rank_missing"));
  JobBuilder empty;
  empty.rank(0).sync(0, 10);
  EXPECT_THAT(codes_of(report_of(empty).warnings), Contains("no_device_activity"));
}

// The report calls it communication then, not transfer.
TEST(Warnings, WhereNoWaitsAreKnownNothingIsCalledTransfer) {
  JobBuilder alone;
  alone.rank(0).compute(0, 10).all_reduce(20, 30);
  const Report of_one = report_of(alone);
  for (const Warning& warning : of_one.warnings) EXPECT_THAT(warning.message, Not(HasSubstr("transfer")));
  EXPECT_THAT(of_one.warnings, Contains(testing::Field(&Warning::code, "single_rank")));
  // Two ranks whose operations cannot be one, without and with another that is.
  const auto build = [](bool meet) {
    JobBuilder builder;
    builder.rank(0).all_reduce(0, 9);
    builder.rank(1).all_reduce(11, 20);
    for (std::int32_t rank = 0; meet && rank < 2; ++rank)
      for (Nanoseconds at = 100; at < 300; at += 100) builder.rank(rank).all_reduce(at + rank, at + 20);
    const Report report = report_of(builder);
    std::string text;
    for (const Warning& warning : report.warnings)
      if (warning.code == "records_unmatched") text = warning.message;
    return text;
  };
  EXPECT_EQ(build(false),
            "2 communication records without a counterpart: how much of their time was waiting is not known");
  EXPECT_THAT(build(true), HasSubstr("counts as transfer"));
}

TEST(Warnings, ARootThatNobodyKnows) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) job.rank(rank).collective(Operation::broadcast, rank, 30);
  const Report report = report_of(job);
  EXPECT_THAT(codes_of(report.warnings), Contains("root_unknown"));
  EXPECT_TRUE(report.collectives.at(0).root_unknown);
}

TEST(Warnings, WhatTheImporterSaidIsNotSaidTwice) {
  JobBuilder builder;
  builder.rank(0).compute(0, 10);
  Job job = builder.build();
  job.warnings.push_back({"no_steps", "said before", kNoRank});
  const Result<Analysis> analysis = analyze(job);
  ASSERT_TRUE(analysis.ok());
  const std::vector<std::string> codes = codes_of(analysis.value().report.warnings);
  EXPECT_EQ(std::count(codes.begin(), codes.end(), "no_steps"), 1);
}

}  // namespace
}  // namespace lockstep::analyzer
