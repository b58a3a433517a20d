// Waiting of which too little was recorded to say who is late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

// Rank 1 is late by 300 µs in each of so many all-reduces.
JobBuilder late_rank(int count, bool marked) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    for (int i = 0; i < count; ++i) {
      const Nanoseconds begin = i * 1000 * us, late = rank == 1 ? 300 * us : 0;
      if (marked) job.rank(rank).step(i, begin, begin + 900 * us);
      job.rank(rank).compute(begin, begin + 500 * us + late).launched(begin, begin + 1);
      job.rank(rank).all_reduce(begin + 500 * us + late, begin + 810 * us).launched(begin, begin + 2);
    }
  }
  return job;
}

TEST(Imbalance, OneStepShowsNothing) {
  const Finding found = finding(report_of(late_rank(1, true)), "imbalance");
  EXPECT_THAT(found.title, HasSubstr("one step shows too little"));
  EXPECT_THAT(found.remedy, HasSubstr("record 7 steps or more"));
  EXPECT_THAT(found.evidence.back(), HasSubstr("100.0 % of it was for rank 1, last in 1 operation"));
  EXPECT_EQ(found.accuses, Accused::nobody);
  EXPECT_EQ(found.rank, std::nullopt);
}

TEST(Imbalance, WhereMoreIsRecordedThanIsLookedAtItSaysSo) {
  AnalysisOptions options;
  options.first_step = options.last_step = 3;
  const Job job = late_rank(20, true).build();
  const Result<Analysis> analysis = analyze(job, options);
  ASSERT_TRUE(analysis.ok());
  EXPECT_EQ(finding(analysis.value().report, "imbalance").remedy,
            "look at 7 steps or more (--steps): 20 are recorded");
}

TEST(Imbalance, WithoutStepMarksNobodyCanTell) {
  EXPECT_THAT(finding(report_of(late_rank(20, false)), "imbalance").title, HasSubstr("without step marks"));
}

TEST(Imbalance, ARankWithoutARecordMayBeTheLateOne) {
  JobBuilder job = late_rank(20, true);
  job.missing(3);
  const Finding found = finding(report_of(job), "imbalance");
  EXPECT_THAT(found.title, HasSubstr("some left no record"));
  EXPECT_THAT(found.remedy, HasSubstr("record all ranks"));
}

}  // namespace
}  // namespace lockstep::analyzer
