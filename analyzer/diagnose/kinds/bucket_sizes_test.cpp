// Gradients in too few pieces, in too many, and late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/bucketed_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Findings, OneLargeBucketIsTooLarge) {
  const Report report = report_of(bucketed_job(1, 0, 0, 80 << 20, 8000 * us));
  const Finding large = finding(report, "buckets_too_large");
  EXPECT_THAT(large.remedy, HasSubstr("bucket_cap_mb=10"));  // 80 MiB in eight
  EXPECT_EQ(large.lost_ns, 2 * 3 * 7000 * us) << "of eight pieces the last one is exposed";
  EXPECT_THAT(codes_of(report.findings), Not(Contains("no_overlap")));
}

const StepMark& step_of(const RankTrace& rank, const Activity& activity) {
  return rank.steps[static_cast<std::size_t>(activity.begin / (100'000 * us))];
}

// As bucketed_job's, but handed over at `handed` of the step, whose backward pass is the latter half of
// compute; to the thread that carries it out, as Gloo's.
Job handed_over_at(Nanoseconds handed, int count, bool backward_is_told = true) {
  Job job = bucketed_job(count, 8 << 20, 4000 * us, 80 << 20, 8000 * us).build();
  for (RankTrace& rank : job.ranks) {
    for (Activity& activity : rank.activities) {
      if (activity.communication == kNone) continue;
      activity.launch_begin = step_of(rank, activity).begin + handed;
      activity.launch_end = activity.launch_begin + 1 * us;
    }
    if (!backward_is_told) continue;
    for (const StepMark& step : rank.steps)
      rank.host_ranges.push_back({step.begin + 5000 * us, step.begin + 9900 * us,
                                  job.strings.intern("backward"), 0, 0, HostKind::other});
  }
  return job;
}

// Seen of a program that calls all_reduce after backward(): pieces of any size would be exposed.
TEST(Findings, WhatTheProgramReducesBehindBackwardIsNoBucket) {
  for (const int count : {1, 2}) {
    const Report by_hand = report_of(handed_over_at(9950 * us, count));
    EXPECT_THAT(codes_of(by_hand.findings), Not(Contains(HasSubstr("bucket")))) << count;
    EXPECT_GT(finding(by_hand, "no_overlap").lost_ns, 0);
    // DDP's only bucket, or its last, leaves with the last gradient.
    finding(report_of(handed_over_at(9890 * us, count)), "buckets_too_large");
    // No range says when backward passes ran.
    finding(report_of(handed_over_at(9950 * us, count, false)), "buckets_too_large");
  }
}

// Of one among many that was handed over within backward all are buckets.
TEST(Findings, OneBucketWithinBackwardShowsThatBucketsAreMade) {
  Job job = handed_over_at(9950 * us, 1);
  RankTrace& rank = job.ranks[1];
  for (Activity& activity : rank.activities)
    if (activity.communication != kNone && step_of(rank, activity).number == 1)
      activity.launch_begin = rank.steps[1].begin + 6000 * us;
  finding(report_of(job), "buckets_too_large");
}

// Seen of a healthy job, DDP with bucket_cap_mb=1: pieces of 1 MiB and of 5 are 3 MiB in the mean, those of 1
// and 2.5 are not large, whichever of them is the median.
TEST(Findings, OfTwoBucketsTheMeanSaysWhetherTheyAreLarge) {
  for (const bool is_large : {false, true}) {
    const std::int64_t first = is_large ? 5 << 20 : 5 << 19;
    const Report report = report_of(bucketed_job(2, 1 << 20, 4000 * us, first, 8000 * us));
    EXPECT_EQ(testing::Matches(Contains("buckets_too_large"))(codes_of(report.findings)), is_large);
  }
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

TEST(Findings, NoFirstBucketIsLateWhereTheProgramReducesBehindBackward) {
  for (const bool by_hand : {false, true}) {
    JobBuilder builder;
    for (int step = 0; step < 3; ++step) {
      const Nanoseconds begin = step * 20'000 * us;
      for (std::int32_t rank = 0; rank < 2; ++rank) {
        builder.rank(rank).step(step, begin, begin + 19'000 * us);
        builder.rank(rank).compute(begin, begin + 9000 * us).launched(begin, begin + 1);
        builder.rank(rank).host_range(begin + 4000 * us, begin + 9000 * us, "backward");
        for (const Nanoseconds at : {9200 * us, 10'400 * us, 11'600 * us})
          builder.rank(rank)
              .all_reduce(begin + at, begin + at + 1000 * us)
              .bytes(8 << 20)
              .launched(begin + (by_hand ? at - 100 * us : 8900 * us), begin + at);
      }
    }
    EXPECT_EQ(testing::Matches(Contains("first_bucket_late"))(codes_of(report_of(builder).findings)),
              !by_hand);
  }
}

// That nothing is hidden is said all the same.
TEST(Findings, OneOrTwoStepsAreTooFewForAdviceAboutBuckets) {
  for (const int steps : {1, 2}) {
    const Report large = report_of(bucketed_job(1, 0, 0, 80 << 20, 4000 * us, steps));
    EXPECT_THAT(codes_of(large.findings), Not(Contains(HasSubstr("bucket")))) << steps;
    EXPECT_EQ(finding(large, "no_overlap").lost_ns, 2 * steps * 4000 * us);
    const Report small = report_of(bucketed_job(40, 10'000, 110 * us, 400'000, 500 * us, steps));
    EXPECT_THAT(codes_of(small.findings), Not(Contains(HasSubstr("bucket")))) << steps;
  }
}

TEST(Findings, BucketsOfASensibleSizeAreNoFinding) {
  const Report report = report_of(bucketed_job(8, 10 << 20, 1000 * us, 1 << 20, 110 * us));
  EXPECT_THAT(codes_of(report.findings), Not(Contains(HasSubstr("bucket"))));
}

}  // namespace
}  // namespace lockstep::analyzer
