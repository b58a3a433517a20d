// Waiting of which too little was recorded to say who is late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Rank 1 is late by 300 µs in each of so many all-reduces.
JobBuilder late_rank(int count, bool marked, std::int32_t ranks = 3) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
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
  const Report report = checked_analysis(late_rank(20, true).build(), options).report;
  EXPECT_EQ(finding(report, "imbalance").remedy, "look at 7 steps or more (--steps): 20 are recorded");
}

TEST(Imbalance, WithoutStepMarksNobodyCanTell) {
  EXPECT_THAT(finding(report_of(late_rank(20, false)), "imbalance").title, HasSubstr("without step marks"));
}

// As a program that wraps its model, and ends before its first step.
JobBuilder started_job() {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    job.rank(rank).host_range(0, 100 * us, "start-up: imports");
    job.rank(rank)
        .collective(Operation::all_gather, (100 + 300 * rank) * us, 710 * us)
        .launched(100 * us, 101 * us);
    job.rank(rank).collective(Operation::broadcast, 720 * us, 750 * us).launched(720 * us, 721 * us);
  }
  return job;
}

TEST(Imbalance, WhereNothingTrainedNobodyIsToldToMarkSteps) {
  const Finding found = finding(report_of(started_job()), "imbalance");
  EXPECT_EQ(found.title, "ranks wait for each other while the job starts, and no rank trained");
  EXPECT_THAT(found.remedy, testing::Not(HasSubstr("mark")));
  JobBuilder computes = started_job();
  computes.rank(2).compute(760 * us, 800 * us);
  EXPECT_THAT(finding(report_of(computes), "imbalance").remedy, HasSubstr("mark the steps"));
  JobBuilder reduces = started_job();
  for (std::int32_t rank = 0; rank < 3; ++rank) reduces.rank(rank).all_reduce(760 * us, 800 * us);
  EXPECT_THAT(finding(report_of(reduces), "imbalance").remedy, HasSubstr("mark the steps"));
}

// Seen of a parameter server: all ranks were recorded, and the workers have no optimizer.
TEST(Imbalance, RanksWithoutStepsAreNamed) {
  Job job = late_rank(20, true).build();
  job.ranks[2].steps.clear();
  Job two = job;
  EXPECT_THAT(codes_of(report_of(job).findings), testing::Not(testing::Contains("imbalance")))
      << "the other two can be judged";
  two.ranks[1].steps.clear();
  const Report report = report_of(two);
  const Finding found = finding(report, "imbalance");
  EXPECT_EQ(found.title,
            "ranks wait for each other; ranks 1, 2 have no steps, so that nobody can tell who is late");
  EXPECT_EQ(found.remedy,
            "mark the steps of ranks 1, 2 too (`lockstep.step`, docs/instrumentation.md; torch.profiler's "
            "step()): without marks only ranks that have an optimizer have steps");
  for (const Warning& warning : report.warnings)
    if (warning.code == "steps_differ") {
      EXPECT_THAT(warning.message, HasSubstr("2 ranks lack steps that others have (ranks 1, 2: 0 of 20)"));
    }
  EXPECT_THAT(codes_of(report.warnings), testing::Contains("steps_differ"));
  // Of what is lost in the window of rank 0 alone, nobody says that it was for whom all waited.
  AnalysisOptions options;
  options.steady = true;
  EXPECT_THAT(finding(checked_analysis(two, options).report, "imbalance").evidence.back(),
              HasSubstr("100.0 % of all ranks' waiting, in steps or not, was for rank 1"));
}

// Seen of a job that failed in its first step: no mark is missing there.
TEST(Imbalance, OfAJobThatFailedNobodySaysThatStepsAreNotMarked) {
  Job job = late_rank(1, true).build();
  for (const std::size_t rank : {1, 2}) job.ranks[rank].steps.clear();
  job.end.exit_code = 1;
  EXPECT_THAT(finding(report_of(job), "imbalance").remedy,
              HasSubstr("this one ended before ranks 1, 2 had ended a step"));
}

// Seen of torch's Join: 45 batches on one rank, 60 on the other, all recorded.
TEST(Imbalance, DifferentNumbersOfStepsAreSaid) {
  Job job = late_rank(20, true).build();
  for (const std::size_t rank : {1, 2}) job.ranks[rank].steps.resize(15);
  const Finding found = finding(report_of(job), "imbalance");
  EXPECT_EQ(found.title,
            "ranks wait for each other; ranks 1, 2 have 15 of 20 steps, so that nobody can tell who is late");
  EXPECT_EQ(
      found.remedy,
      "ranks have different numbers of steps: `lockstep analyze --steps 0:14` looks at those that all have");
  // What they do together is not of one number.
  for (const std::size_t rank : {1, 2})
    for (StepMark& step : job.ranks[rank].steps) step.number += 100;
  const Finding apart = finding(report_of(job), "imbalance");
  EXPECT_THAT(apart.title, HasSubstr("their steps do not go together, so that nobody can tell who is late"));
  EXPECT_THAT(apart.remedy, HasSubstr("mark what all ranks do together as a step"));
}

TEST(Imbalance, ARankWithoutARecordMayBeTheLateOne) {
  JobBuilder job = late_rank(20, true);
  job.missing(3);
  const Finding found = finding(report_of(job), "imbalance");
  EXPECT_THAT(found.title, HasSubstr("some left no record"));
  EXPECT_THAT(found.remedy, HasSubstr("record all ranks"));
}

// Rank 1 again, of which only the first 12 of 20 steps are marked: the others take turns, and wait for it.
TEST(Imbalance, ARankOfFewStepsForWhichTheOthersWaitIsNobodysTurn) {
  for (const std::size_t marked : {12, 0}) {
    Job job = late_rank(20, true, 4).build();
    job.ranks[1].steps.resize(marked);
    const Report report = report_of(job);
    ASSERT_TRUE(report.lateness.can_tell);
    EXPECT_THAT(codes_of(report.findings), Not(Contains("jitter")));
    const Finding found = finding(report, "imbalance");
    EXPECT_EQ(found.title, marked == 0 ? "ranks wait for each other; rank 1 has no steps, so that nobody can "
                                         "tell who is late"
                                       : "ranks wait for each other; rank 1 has 12 of 20 steps, so that "
                                         "nobody can tell who is late");
    EXPECT_EQ(found.accuses, Accused::nobody);
    EXPECT_THAT(found.evidence, Contains(HasSubstr("was for rank 1, last in ")));
  }
}

// The same of rank 0, which is not waited for: whether rank 1 is late can be told without it.
TEST(Imbalance, ARankOfFewStepsForWhichNobodyWaitsLeavesTheRestToBeTold) {
  Job job = late_rank(20, true, 4).build();
  job.ranks[0].steps.resize(12);
  const Report report = report_of(job);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("imbalance")));
  EXPECT_EQ(finding(report, "straggler_persistent").rank, 1);
}

}  // namespace
}  // namespace lockstep::analyzer
