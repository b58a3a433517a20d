// Ranks that sleep where they should compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Ranks, two of them, that compute in [0, 400) and [400 + asleep, 1000) µs of each of twelve steps, as a
// range that was cut is read.
JobBuilder job_of(Nanoseconds asleep_0, Nanoseconds asleep_1, int ranks = 2) {
  JobBuilder job;
  for (int rank = 0; rank < ranks; ++rank) {
    const Nanoseconds asleep = (rank == 0 ? asleep_0 : asleep_1) * us;
    RankTrace& trace = job.rank(rank).trace();
    trace.device = "cpu";
    trace.off_cpu_known = true;
    for (int step = 0; step < 12; ++step) {
      const Nanoseconds begin = step * 1000 * us, awake = begin + 400 * us + asleep;
      job.rank(rank).step(step, begin, begin + 1000 * us);
      job.rank(rank).compute(begin, begin + 400 * us).launched(begin, begin);
      job.rank(rank).compute(awake, begin + 1000 * us).launched(awake, awake);
      if (asleep > 0) trace.off_cpu.push_back({begin + 400 * us, awake});
    }
  }
  return job;
}

TEST(Findings, ASleepInsideAComputationIsHostBoundAndNamed) {
  const Report report = report_of(job_of(100, 100));
  const Finding blocked = finding(report, "blocked_in_compute");
  EXPECT_EQ(blocked.title, "ranks sleep or are blocked in the middle of their computation");
  EXPECT_EQ(blocked.lost_ns, 2 * 12 * 100 * us);
  EXPECT_EQ(blocked.rank, std::nullopt);
  EXPECT_EQ(report.ranks[0].measures.off_cpu_ns, 1200 * us);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::host_bound], 1200 * us);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::compute], 10800 * us);
  EXPECT_EQ(report.ranks[0].measures.partition.total(), 12000 * us);
  // It is what host_bound is of: nothing is left to say of that.
  EXPECT_THAT(codes_of(report.findings), Not(Contains("idle_between_computations")));
}

TEST(Findings, TheOnlyRankIsNotManyRanks) {
  JobBuilder job = job_of(100, 0, 1);
  for (int step = 0; step < 12; ++step)
    job.rank(0).host_range((step * 1000 + 10) * us, (step * 1000 + 300) * us, "evaluation");
  const Report report = report_of(job);
  EXPECT_EQ(finding(report, "blocked_in_compute").title,
            "the rank sleeps or is blocked in the middle of its computation");
  EXPECT_THAT(finding(report, "evaluation_long").title,
              HasSubstr("the model runs without being trained: 3.48 ms in "));
}

// Seen: the place was that of the rank that idled longest between its computations.
TEST(Findings, ASleepIsSeenOnTheRankThatSleeps) {
  JobBuilder job = job_of(0, 150);
  Activity& second = job.rank(0).trace().activities[2];  // of the second step, which begins late
  second.begin += 300 * us;
  second.launch_begin = second.launch_end = second.begin;
  const Finding blocked = finding(report_of(job), "blocked_in_compute");
  ASSERT_TRUE(blocked.place.has_value());
  EXPECT_EQ(blocked.place->rank, 1);
}

TEST(Findings, OneRankThatSleepsIsNamed) {
  const Finding blocked = finding(report_of(job_of(0, 150)), "blocked_in_compute");
  EXPECT_EQ(blocked.title, "rank 1 sleeps or is blocked in the middle of its computation");
  EXPECT_EQ(blocked.rank, 1);
  EXPECT_EQ(blocked.accuses, Accused::rank);
  EXPECT_THAT(blocked.evidence[0], HasSubstr("15.0 %"));
}

// Seen: "ranks sleep", where 745 of 754 ms were one rank's, in few of its steps.
TEST(Findings, OneLongPauseIsOneRanksAndNotItsFault) {
  JobBuilder once = job_of(0, 150);
  std::vector<TimeSpan>& off = once.rank(1).trace().off_cpu;
  off.resize(4);  // the rest of the gaps is something else
  const Finding blocked = finding(report_of(once), "blocked_in_compute");
  EXPECT_EQ(blocked.title, "rank 1 sleeps or is blocked in the middle of its computation");
  EXPECT_EQ(blocked.accuses, Accused::job);
  EXPECT_EQ(blocked.rank, 1);
}

// Rank 1 has six sevenths: more than four fifths, and less than nine tenths.
TEST(Findings, PausesOfSeveralRanksAreNoOnesAlone) {
  JobBuilder job = job_of(25, 150);
  for (int rank = 0; rank < 2; ++rank) job.rank(rank).trace().off_cpu.resize(4);
  const Finding blocked = finding(report_of(job), "blocked_in_compute");
  EXPECT_EQ(blocked.title, "ranks sleep or are blocked in the middle of their computation");
  EXPECT_EQ(blocked.accuses, Accused::job);
  EXPECT_EQ(blocked.rank, std::nullopt);
}

// The cores do not suffice; looks at rank 1's stack while it sleeps see `place`.
JobBuilder job_on_busy_cores(const char* place) {
  JobBuilder job = job_of(0, 150);
  for (int rank = 0; rank < 2; ++rank) {
    RankTrace& trace = job.rank(rank).trace();
    trace.host = "node0";
    trace.core_set = "0-1";
    trace.scheduling = {{0, 0, 0, 0, false}};
    for (int step = 0; step < 12; ++step) {
      for (Nanoseconds at = 0; at < 1000; at += 50) {
        const bool asleep = rank == 1 && at >= 400 && at < 550;
        const Nanoseconds begin = (step * 1000 + at) * us;
        job.rank(rank).host_range(begin, begin + 50 * us, asleep ? place : "main (train.py:60)");
        trace.host_ranges.back().kind = HostKind::python_place;
      }
      SchedulingPoint next = trace.scheduling.back();
      next.time += 1000 * us;
      next.on_cpu_ns += 450 * us;
      next.runnable_ns += 400 * us;
      next.waited_ns += 400 * us;
      next.known = true;
      trace.scheduling.push_back(next);
    }
  }
  return job;
}

TEST(Findings, OnBusyCoresWhoSleepsIsNamedByItsLineAlone) {
  const Report without = report_of(job_on_busy_cores("main (train.py:60)"));
  ASSERT_NO_FATAL_FAILURE(finding(without, "cores_shared"));
  EXPECT_EQ(finding(without, "blocked_in_compute").accuses, Accused::job);
  const Finding named = finding(report_of(job_on_busy_cores("forward (model.py:7)")), "blocked_in_compute");
  EXPECT_EQ(named.accuses, Accused::rank);
  EXPECT_EQ(named.rank, 1);
  EXPECT_EQ(named.title,
            "rank 1 sleeps or is blocked in the middle of its computation, in `forward (model.py:7)`");
  EXPECT_THAT(named.remedy, HasSubstr("look at what is done in `forward (model.py:7)`"));
}

// Seen: "look in forward and backward for time.sleep", of torch.save, which writes to a disk.
TEST(Findings, WhatASaveIsBlockedForIsNotInTheMiddleOfAComputation) {
  for (const char* beside : {"checkpoint: torch.save", "evaluation", "compilation: torch.compile"}) {
    JobBuilder job = job_of(100, 100);
    for (int rank = 0; rank < 2; ++rank)
      for (int step = 0; step < 12; ++step)
        job.rank(rank).host_range((step * 1000 + 390) * us, (step * 1000 + 500) * us, beside);
    EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("blocked_in_compute"))) << beside;
  }
  JobBuilder job = job_of(150, 100);
  for (int step = 0; step < 12; ++step)  // of rank 0 the first 110 µs
    job.rank(0).host_range((step * 1000 + 390) * us, (step * 1000 + 510) * us, "checkpoint: torch.save");
  const Finding blocked = finding(report_of(job), "blocked_in_compute");
  EXPECT_EQ(blocked.lost_ns, 12 * (40 + 100) * us);
  ASSERT_TRUE(blocked.place);
  EXPECT_EQ(blocked.place->rank, 1) << "which sleeps longer beside its saves";
}

TEST(Findings, AMomentOfSleepIsNotWorthAWord) {
  EXPECT_THAT(codes_of(report_of(job_of(10, 10)).findings), Not(Contains("blocked_in_compute")));
}

}  // namespace
}  // namespace lockstep::analyzer
