// Jobs that somebody ended, hand-made: at work, in a hang, or after a failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"
#include "analyzer/report/text.h"

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

constexpr Nanoseconds kCtrlC = 40 * kSecond;

// Ranks 0, 1 and 3 wait for rank 2 until Ctrl-C. Each second somebody looks at rank 2, whose threads run for
// all of it until `works_until`, and sleep from then on.
Job waits_for_rank_2(Nanoseconds works_until) {
  Job job = interrupted(hung_job({0, 1, 3}, kCtrlC + kSecond), kCtrlC);
  for (RankTrace& rank : job.ranks) rank.device = "cpu";
  SchedulingPoint look;
  look.known = false;
  for (; look.time < kCtrlC; look.time += kSecond, look.known = true) {
    job.ranks[2].scheduling.push_back(look);
    if (look.time < works_until) look.on_cpu_ns += kSecond;
  }
  return job;
}

TEST(Interrupted, WhileTheOthersWaitForARankAtWorkItIsNotShownToHang) {
  const Report report = report_of(waits_for_rank_2(kCtrlC));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("hang")));
  const Finding found = finding(report, "job_interrupted");
  EXPECT_EQ(
      found.title,
      "the job was interrupted by Ctrl-C (SIGINT) while rank 2 was at work: ranks 0, 1, 3 had waited for "
      "it, the first for 40.0 s in all_reduce gradients (group data parallel, number 3)");
  EXPECT_EQ(found.accuses, Accused::nobody);
  EXPECT_EQ(found.rank, std::nullopt);
  EXPECT_THAT(found.evidence,
              Contains(HasSubstr("rank 2 ended all_reduce number 2 before; its training threads "
                                 "ran on a core until then: for 39.0 s of the 39.0 s")));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("whether it would have come can't be told")));
  EXPECT_THAT(found.remedy, HasSubstr("If it would never have come, it hangs: record longer"));
  EXPECT_THAT(found.remedy, Not(HasSubstr("branch")));
  ASSERT_TRUE(found.place.has_value());
  EXPECT_EQ(found.place->rank, 0);
  EXPECT_THAT(to_text(report, {}), HasSubstr("The job was interrupted by Ctrl-C (SIGINT) while rank 2 was"));
}

// Asleep from the start, or since it had done its work.
TEST(Interrupted, WhileTheOthersWaitForARankThatSleepsItHangs) {
  for (const Nanoseconds works_until : {Nanoseconds{0}, kCtrlC - 5 * kSecond}) {
    const Report report = report_of(waits_for_rank_2(works_until));
    EXPECT_THAT(finding(report, "hang").title, HasSubstr("rank 2 never came")) << works_until;
    EXPECT_EQ(finding(report, "job_interrupted").title, "the job was interrupted by Ctrl-C (SIGINT)");
  }
}

// It waits itself; the recorder noted a hang; nobody looked at it at the end; and of a GPU's host, which runs
// while it waits for the device, that tells nothing.
TEST(Interrupted, OfARankThatRanAndMayNotHaveWorkedItHangs) {
  Job waits = waits_for_rank_2(kCtrlC), noted = waits, unseen = waits, on_gpu = waits;
  waits.ranks[2].ending.ranges.push_back(waits.strings.intern("wait for communication"));
  for (RankTrace& rank : noted.ranks) rank.ending.hang_noted = 30 * kSecond;
  unseen.ranks[2].scheduling.resize(30);
  on_gpu.ranks[2].device = "cuda:2";
  for (const Job& job : {waits, noted, unseen, on_gpu})
    EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("rank 2 never came"));
}

// On any device; what it begins as it is interrupted does not count.
TEST(Interrupted, WhileTheOthersWaitForARankThatComputesItIsNotShownToHang) {
  for (const Nanoseconds before : {2 * kSecond, kSecond / 2, 8 * kSecond}) {
    Job job = waits_for_rank_2(0);
    job.ranks[2].scheduling.clear();
    Activity pass = job.ranks[2].activities.front();
    ASSERT_EQ(pass.activity_class, Class::compute);
    pass.begin = pass.launch_begin = pass.launch_end = kCtrlC - before;
    pass.end = pass.begin + 100 * ms;
    job.ranks[2].activities.push_back(pass);
    const Report report = report_of(job);
    if (before != 2 * kSecond) {
      EXPECT_THAT(codes_of(report.findings), Contains("hang")) << before;
      continue;
    }
    EXPECT_THAT(codes_of(report.findings), Not(Contains("hang")));
    EXPECT_THAT(finding(report, "job_interrupted").evidence,
                Contains(HasSubstr(
                    "it computed until then: what it computed last ended 1.90 s before the interruption")));
  }
}

// Rank 3 waits in nothing and sleeps: that rank 2 works does not explain it.
TEST(Interrupted, WhereOneOfThoseWaitedForSleepsItHangs) {
  Job job = waits_for_rank_2(kCtrlC);
  job.ranks[3].ending.operations.clear();
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("ranks 2, 3 never came"));
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
