// Jobs that ended with an error, hand-made: who ended first, and when nobody can tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr Nanoseconds kSecond = 1'000'000'000;

// Three ranks with one computation and one all-reduce each, whose recordings end at `ends` (seconds).
Job job_that_ended(const std::vector<Nanoseconds>& ends, const std::vector<bool>& closed, int exit_code) {
  JobBuilder builder;
  for (std::int32_t rank = 0; rank < std::ssize(ends); ++rank) {
    builder.rank(rank).compute(0, 500 * us).launched(0, 1);
    builder.rank(rank).all_reduce(500 * us, 600 * us).launched(2, 3);
  }
  Job job = builder.build();
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    job.ranks[rank].ending.recorded_until = ends[rank] * kSecond;
    job.ranks[rank].ending.closed = closed[rank];
  }
  job.end.exit_code = exit_code;
  return job;
}

std::vector<Finding> failures(const Job& job) {
  std::vector<Finding> found;
  for (const Finding& finding : report_of(job).findings)
    if (finding.code == "job_failed") found.push_back(finding);
  return found;
}

TEST(Failure, OfAJobThatSucceededThereIsNone) {
  EXPECT_THAT(failures(job_that_ended({5, 5, 5}, {true, true, true}, 0)), IsEmpty());
  Job unknown = job_that_ended({5, 5, 5}, {true, true, true}, 0);
  unknown.end.exit_code.reset();
  EXPECT_THAT(failures(unknown), IsEmpty());
}

TEST(Failure, TheRankThatEndedLongBeforeTheOthersIsNamed) {
  const auto found = failures(job_that_ended({9, 5, 9}, {false, false, false}, 1));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "the job ended with exit code 1; rank 1 ended first");
  EXPECT_THAT(found[0].evidence, ElementsAre("rank 1 was killed, crashed, or left by _exit",
                                             "rank 0 was killed, crashed, or left by _exit 4.00 s later",
                                             "rank 2 was killed, crashed, or left by _exit 4.00 s later"));
}

// It may have ended because it lost its connection to one that was killed.
TEST(Failure, ARankThatAloneClosedItsFileIsNotSaidToHaveEndedFirst) {
  const auto found = failures(job_that_ended({5, 5, 5}, {false, false, true}, 1));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "the job ended with exit code 1");
}

TEST(Failure, ARankThatClosedItsFileWhileOthersWaitedForItEndedFirst) {
  Job job = job_with_absent_rank({.ranks = 3, .absent = 2, .all_reduces = 3, .given_up_after = 2 * kSecond});
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = 3 * kSecond;
  job.ranks[2].ending.closed = true;
  job.end.exit_code = 1;
  EXPECT_THAT(failures(job).at(0).title, HasSubstr("rank 2 ended first"));
  // Whoever waited itself is not the one.
  job.ranks[2].ending.closed = false;
  job.ranks[0].ending.closed = true;
  EXPECT_EQ(failures(job).at(0).title, "the job ended with exit code 1");
}

TEST(Failure, WhatTheOthersWereInIsSaid) {
  Job job = job_that_ended({9, 5}, {false, true}, 3);
  OpenOperation operation;
  operation.begin = 6 * kSecond;
  operation.name = job.ranks[0].activities[1].name;
  job.ranks[0].ending.operations.push_back(operation);
  const auto found = failures(job);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].evidence.size(), 1U);
  EXPECT_THAT(
      found[0].evidence[0],
      testing::MatchesRegex("rank 0 waited in .* for 3.00 s, then was killed, crashed, or left by _exit"));
}

TEST(Failure, WhoWasFirstIsNotGuessed) {
  const auto found = failures(job_that_ended({5, 6, 5}, {false, false, false}, 137));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "the job ended with exit code 137");
  EXPECT_THAT(found[0].remedy, HasSubstr("do not tell"));
}

// A file that was not closed lacks its last moments, unless the survivor wrote them.
TEST(Failure, WhereTheLastMomentsAreMissingItIsSaidHowToKeepThem) {
  const auto remedy = [](const std::vector<bool>& closed, const std::vector<std::int32_t>& survived) {
    Job job = job_that_ended({5, 5, 5}, closed, 1);
    for (const std::int32_t rank : survived)
      job.warnings.push_back({"file_incomplete", "was written afterwards (--survive-kill)", rank});
    return failures(job).at(0).remedy;
  };
  EXPECT_THAT(remedy({false, false, false}, {}), HasSubstr("`lockstep record --survive-kill` keeps it"));
  EXPECT_THAT(remedy({false, false, true}, {0}), HasSubstr("--survive-kill"));
  EXPECT_THAT(remedy({false, false, false}, {0, 1, 2}), Not(HasSubstr("--survive-kill")));
  EXPECT_THAT(remedy({true, true, true}, {}), Not(HasSubstr("--survive-kill")));
}

TEST(Failure, ASignalIsNamed) {
  Job job = job_that_ended({5, 5, 5}, {true, true, true}, 0);
  job.end = {std::nullopt, 9};
  EXPECT_THAT(failures(job).at(0).title, StartsWith("the job was ended by signal 9"));
}

TEST(Failure, WhereOthersHaveStepsTheFirstMayHaveEndedBeforeItsOwn) {
  Job job = job_that_ended({9, 5, 9}, {false, false, false}, 1);
  job.ranks[0].steps.push_back({.number = 0, .begin = 0, .end = kSecond});
  const auto found = failures(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].title, EndsWith("rank 1 ended first, before its first step was over"));
}

// Rank 1 raised after its second all-reduce; rank 0 waited in the third until it was killed.
TEST(Failure, WhatItNeverCameToIsSaidAndNotThatARecordingLacks) {
  Job job = job_with_absent_rank({.ranks = 2, .absent = 1, .all_reduces = 3, .given_up_after = 2 * kSecond});
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = 3 * kSecond;
  job.ranks[1].ending.closed = true;
  job.end.exit_code = 1;
  const Report report = report_of(job);
  const Finding found = finding(report, "job_failed");
  EXPECT_EQ(found.title, "the job ended with exit code 1; rank 1 ended first");
  EXPECT_THAT(found.evidence,
              ElementsAre("rank 0 waited 2.00 s in all_reduce number 2, to which rank 1 never came",
                          "rank 0 was killed, crashed, or left by _exit at about the same time"));
  // To which a rank never came, nothing was moved.
  ASSERT_EQ(report.collectives.size(), 3U);
  EXPECT_TRUE(report.collectives[2].unfinished);
  EXPECT_EQ(report.collectives[2].wait_ns, 2 * kSecond);
  EXPECT_THAT(codes_of(report.findings), testing::Not(testing::Contains("exposed_communication")));
}

// Rank 1 of three leaves out number 3 of a group and goes on to number 4.
Job job_with_a_skipped_collective() {
  JobBuilder builder;
  const std::uint32_t group = builder.group("world", {0, 1, 2});
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    for (std::int64_t number = 1; number <= 4; ++number) {
      if (number == (rank == 1 ? 3 : 4)) continue;
      const bool waits = number >= 3;
      builder.rank(rank)
          .all_reduce(number * kSecond, number * kSecond + (waits ? 10 * kSecond : 1000))
          .in_group(group)
          .sequence(number);
    }
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = 15 * kSecond;
  job.ranks[0].ending.closed = true;
  job.end.exit_code = 1;
  return job;
}

TEST(Failure, WhoLeftOutACollectiveIsNamedAndNotWhoGaveUpFirst) {
  const auto found = failures(job_with_a_skipped_collective());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "the job ended with exit code 1; rank 1 left out all_reduce number 3");
  EXPECT_THAT(
      found[0].evidence,
      ElementsAre("rank 0 waited 10.0 s in all_reduce number 3 of group world, to which rank 1 never came",
                  "rank 2 waited 10.0 s in all_reduce number 3 of group world, to which rank 1 never came",
                  "rank 1 went on to all_reduce number 4, to which nobody else came"));
  EXPECT_THAT(found[0].remedy, StartsWith("every rank must issue the same collectives in the same order"));
}

TEST(Failure, ARankWhoseRecordingLostEventsIsNotSaidToHaveLeftAnythingOut) {
  Job job = job_with_a_skipped_collective();
  job.ranks[1].dropped_events = 1;
  const auto found = failures(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].title, testing::Not(HasSubstr("left out")));
}

TEST(Failure, WhereOthersWentOnTooNothingWasLeftOut) {
  Job job = job_with_a_skipped_collective();
  job.ranks[2].communications.back().sequence = 5;  // a rank that got further: it was a gap in the records
  EXPECT_THAT(failures(job)[0].title, testing::Not(HasSubstr("left out")));
}

}  // namespace
}  // namespace lockstep::analyzer
