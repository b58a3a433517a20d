// Jobs that somebody ended, hand-made: at work, in a hang, or after a failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Ctrl-C `after` the recording's begin, to which the launcher answers with exit code 1.
Job interrupted(Job job, Nanoseconds after, std::int32_t signal = 2) {
  for (RankTrace& rank : job.ranks) rank.ending.interrupted = after;
  job.end.exit_code = 1;
  job.end.interrupted_by = signal;
  job.end.interrupted_at = 1;
  return job;
}

TEST(Interrupted, AHealthyJobHasNotFailed) {
  const Report report = report_of(interrupted(hung_job({}, kSecond), 40'000 * us));
  const Finding found = finding(report, "job_interrupted");
  EXPECT_EQ(found.title, "the job was interrupted by Ctrl-C (SIGINT)");
  EXPECT_EQ(found.severity, "note");
  EXPECT_THAT(found.evidence, ElementsAre("it was at work until then"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("job_failed")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("hang")));
}

TEST(Interrupted, BySchedulersIsTheSame) {
  const Report report = report_of(interrupted(hung_job({}, kSecond), 40'000 * us, 15));
  EXPECT_EQ(finding(report, "job_interrupted").title, "the job was interrupted by SIGTERM");
  EXPECT_THAT(codes_of(report.findings), Not(Contains("job_failed")));
}

TEST(Interrupted, AHangThatAPersonEndsIsAHang) {
  const Report report = report_of(interrupted(hung_job({0, 1, 3}, 60 * kSecond), 40 * kSecond));
  ASSERT_FALSE(report.findings.empty());
  const Finding& hang = report.findings.front();
  EXPECT_EQ(hang.title,
            "the job hung in all_reduce gradients (group data parallel, number 3): rank 2 never came");
  EXPECT_THAT(hang.evidence,
              Contains("ranks 0, 1, 3 wait in it, the first for 40.0 s, until the job was interrupted"));
  EXPECT_THAT(codes_of(report.findings), Contains("job_interrupted"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("job_failed")));
}

TEST(Interrupted, SoonInAnOperationItIsNoHangAndSaysWhatItWasIn) {
  const Report report = report_of(interrupted(hung_job({0, 1, 3}, 60 * kSecond), 3 * kSecond));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("hang")));
  EXPECT_THAT(codes_of(report.findings), Contains("job_interrupted"));
}

// It was on its way out: the interpreter's end may take as long as a hang.
TEST(Interrupted, WhoseRanksAllEndedByThemselvesDidNotHang) {
  Job job = interrupted(hung_job({}, 41 * kSecond), 40 * kSecond);
  EXPECT_THAT(finding(report_of(job), "job_interrupted").remedy, HasSubstr("if it hung"));
  for (RankTrace& rank : job.ranks) rank.ending.closed = true;
  const Finding found = finding(report_of(job), "job_interrupted");
  EXPECT_THAT(found.evidence, ElementsAre("all of its ranks ended by themselves"));
  EXPECT_THAT(found.remedy, Not(HasSubstr("hung")));
}

TEST(Interrupted, WhatEndedWellWasNot) {
  Job job = interrupted(hung_job({}, kSecond), 40'000 * us);
  job.end.exit_code = 0;
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("job_interrupted")));
}

TEST(Interrupted, ARankThatEndedLongBeforeIsAFailure) {
  Job job = interrupted(hung_job({}, 60 * kSecond), 60 * kSecond);
  job.ranks[2].ending.recorded_until = kSecond;
  job.ranks[2].ending.closed = true;
  const Report report = report_of(job);
  EXPECT_THAT(
      finding(report, "job_failed").title,
      HasSubstr("the job was interrupted by Ctrl-C (SIGINT), and had failed before; rank 2 ended first"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("job_interrupted")));
}

}  // namespace
}  // namespace lockstep::analyzer
