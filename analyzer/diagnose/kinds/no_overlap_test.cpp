// Communication and compute that take turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/bucketed_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Findings, NothingHiddenAtAll) {
  const Report report = report_of(bucketed_job(8, 10 << 20, 1000 * us, 1 << 20, 110 * us));
  EXPECT_THAT(codes_of(report.findings), Contains("no_overlap"));
  EXPECT_EQ(finding(report, "no_overlap").lost_ns, 2 * 3 * 7110 * us);
}

// Two ranks of three steps. Rank 0 comes to a broadcast of its own 10 ms before rank 1, and both leave it
// `broadcast` after that; then they reduce for so long.
JobBuilder job_of_broadcasts(Nanoseconds broadcast, Nanoseconds all_reduce) {
  JobBuilder job;
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds begin = step * 100'000 * us, left = begin + 20'000 * us + broadcast;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      RankBuilder& builder = job.rank(rank);
      const Nanoseconds computed = begin + (10'000 + rank * 10'000) * us;
      builder.step(step, begin, begin + 50'000 * us);
      builder.compute(begin, computed).launched(begin, begin + 1);
      builder.collective(Operation::broadcast, computed, left)
          .root(0)
          .bytes(192)
          .launched(begin + 2, begin + 3);
      if (all_reduce > 0) builder.all_reduce(left, left + all_reduce).launched(begin + 4, begin + 5);
    }
  }
  return job;
}

// Seen of DDP's broadcasts of buffers on Gloo: the root waited in them for a rank that slept, and all of that
// was said to be transfer that compute could cover.
TEST(Findings, WhatARootWaitsForItsReceiversIsNoLackOfOverlap) {
  const Report report = report_of(job_of_broadcasts(1000 * us, 5000 * us));
  EXPECT_THAT(codes_of(report.findings), Contains("no_overlap"));
  const Finding found = finding(report, "no_overlap");
  EXPECT_EQ(found.lost_ns, 2 * 3 * 6000 * us);
  EXPECT_THAT(found.evidence, Contains(HasSubstr("of 66.0 ms that count as transfer, 30.0 ms are left out")));
  EXPECT_THAT(found.remedy, AllOf(HasSubstr("bucket_cap_mb"), HasSubstr("broadcast_buffers=False")));
}

TEST(Findings, SmallBroadcastsAloneAreNotToBeStartedEarlier) {
  const Finding found = finding(report_of(job_of_broadcasts(5000 * us, 0)), "no_overlap");
  EXPECT_THAT(found.remedy,
              AllOf(StartsWith("broadcast less: DDP(broadcast_buffers=False)"), Not(HasSubstr("async_op"))));
}

TEST(Findings, NothingMovesWhileTheRootWaits) {
  EXPECT_THAT(codes_of(report_of(job_of_broadcasts(200 * us, 0)).findings), Not(Contains("no_overlap")));
}

}  // namespace
}  // namespace lockstep::analyzer
