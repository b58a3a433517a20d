// Where the wall time of a job that failed, hung or was interrupted went.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "analyzer/account/account.h"
#include "analyzer/account/account_jobs.h"
#include "analyzer/model/survivor.h"

namespace lockstep::analyzer {
namespace {

// Its ranks ended by an exception, say: their files are whole.
void close_files(Job& job) {
  for (RankTrace& rank : job.ranks) rank.ending.closed = true;
}

TEST(Account, AFailedJobWaitsAfterItsLastWork) {
  Job job = job_of_500().build();
  job.end.exit_code = 1;
  close_files(job);
  const AccountReport report = account_of(job, 1);
  EXPECT_EQ(report.ranks[1].spent[Spending::after_failure], 20);
  EXPECT_EQ(report.ranks[1].spent[Spending::shutdown], 0);
}

// Seen of a job that aborted at its exit, "hung or waiting until the job ended 211 ms": ranks at work, whose
// last second was lost with their processes.
TEST(Account, OfLostLastMomentsNobodyKnowsThatTheRankWaited) {
  JobBuilder builder = job_of_500();
  builder.rank(0).compute(503, 508).launched(503, 504);  // of a step that did not end
  Job job = builder.build();
  job.end.exit_code = 1;
  const AccountReport report = account_of(job, 1);
  EXPECT_EQ(report.ranks[0].spent[Spending::other], 8);
  EXPECT_EQ(report.ranks[0].spent[Spending::not_recorded], 12);
  EXPECT_EQ(report.ranks[1].spent[Spending::not_recorded], 20);
  EXPECT_EQ(report.spent[Spending::after_failure], 0);
  EXPECT_EQ(report.spent[Spending::shutdown], 0);
  EXPECT_DOUBLE_EQ(*report.goodput, 540.0 / 1008) << "of what was recorded";
  expect_sums(report);
}

TEST(Account, WhoIsSeenWaitingBeforeLostLastMomentsWaited) {
  JobBuilder builder = job_of_500();
  builder.rank(1).all_reduce(505, 515).launched(505, 506);  // which failed, maybe
  Job job = builder.build();
  job.end.exit_code = 1;
  EXPECT_EQ(account_of(job, 1).ranks[1].spent[Spending::after_failure], 15);
  EXPECT_EQ(account_of(job, 1).ranks[1].spent[Spending::not_recorded], 5);
  // In an operation that did not end; in a hang; until a survivor wrote all of it.
  job.ranks[0].ending.operations.emplace_back().begin = 501;
  EXPECT_EQ(account_of(job, 1).ranks[0].spent[Spending::after_failure], 20);
  job.ranks[0].ending.operations.clear();
  job.ranks[0].ending.hang_noted = 510;
  EXPECT_EQ(account_of(job, 1).ranks[0].spent[Spending::after_failure], 20);
  job.ranks[0].ending.hang_noted = kUnknownTime;
  EXPECT_EQ(account_of(job, 1).ranks[0].spent[Spending::not_recorded], 20);
  job.warnings.push_back({"file_incomplete", "its last moment is there " + std::string(kSurvivorWrote), 0});
  EXPECT_EQ(account_of(job, 1).ranks[0].spent[Spending::after_failure], 20);
  // What it lacks is no longer than that: before, it did nothing for long.
  job.warnings.clear();
  job.ranks[1].ending.recorded_until = 500 + kLastFlush;
  EXPECT_EQ(account_of(job, 1).ranks[0].spent[Spending::not_recorded], kLastFlush);
  job.ranks[1].ending.recorded_until = 501 + kLastFlush;
  EXPECT_EQ(account_of(job, 1).ranks[0].spent[Spending::after_failure], kLastFlush + 1);
}

// The same, interrupted at 510; rank 0 was in an operation from `since` on.
Job interrupted_job(std::optional<Nanoseconds> since = std::nullopt) {
  Job job = job_of_500().build();
  job.end.exit_code = 1;
  job.end.interrupted_by = 2;
  for (RankTrace& rank : job.ranks) rank.ending.interrupted = 510;
  if (since) job.ranks[0].ending.operations.emplace_back().begin = *since;
  return job;
}

// Rank 1 ends in the step behind the last whole one; rank 0 stands in an all-reduce until that fails, at 515.
TEST(Account, TheOperationThatFailsWithAnotherRankIsWaiting) {
  JobBuilder job = job_of_500();
  job.rank(0).all_reduce(505, 515).launched(505, 506);
  Job failed = job.build();
  EXPECT_EQ(account_of(failed, 1).ranks[0].spent[Spending::shutdown], 20) << "of a job that did not fail";
  failed.end.exit_code = 1;
  close_files(failed);
  for (const RankAccount& rank : account_of(failed, 1).ranks) {
    EXPECT_EQ(rank.spent[Spending::after_failure], 20);
    EXPECT_EQ(rank.spent[Spending::shutdown], 0);
    EXPECT_EQ(rank.spent.total(), 520);
  }
}

TEST(Account, AJobAtWorkThatSomebodyInterruptedDidNotWait) {
  for (const Job& job : {interrupted_job(), interrupted_job(502)}) {
    const Account spent = account_of(job, 1).ranks[0].spent;
    EXPECT_EQ(spent[Spending::after_failure], 0);
    EXPECT_EQ(spent[Spending::other], 10) << "a step that did not end";
    EXPECT_EQ(spent[Spending::shutdown], 10);
  }
}

TEST(Account, AJobThatWasInterruptedInAHangWaited) {
  Job job = interrupted_job(501);
  for (RankTrace& rank : job.ranks) {
    rank.ending.interrupted = 6'000'000'000;
    rank.ending.recorded_until = 6'000'000'100;
  }
  const AccountReport report = account_of(job, 1);
  for (const RankAccount& rank : report.ranks)
    EXPECT_EQ(rank.spent[Spending::after_failure], 5'999'999'600) << "the one that never came, too";
}

// Seen: "checkpoints were written for 89.4 s" by a saver that was stuck in the hang itself.
TEST(Account, WhatIsSavedBesideCountsUntilTheRankHangs) {
  constexpr Nanoseconds kInterrupted = 6'000'000'000;
  JobBuilder builder = job_of_500();
  for (int rank = 0; rank < 2; ++rank) builder.rank(rank).trace().ending.recorded_until = kInterrupted + 100;
  builder.rank(0).host_range(410, kInterrupted, "checkpoint: torch.save (background)");  // open: to the end
  Job job = builder.build();
  EXPECT_EQ(account_of(job, 1).ranks[0].checkpoint_beside_ns, kInterrupted - 410) << "of a job that goes on";
  job.end.exit_code = 1;
  job.end.interrupted_by = 15;
  for (RankTrace& rank : job.ranks) rank.ending.interrupted = kInterrupted;
  job.ranks[0].ending.operations.emplace_back().begin = 501;
  const AccountReport report = account_of(job, 1);
  EXPECT_EQ(report.ranks[0].spent[Spending::after_failure], kInterrupted + 100 - 500);
  EXPECT_EQ(report.ranks[0].checkpoint_beside_ns, 90);
  expect_sums(report);
}

// Rank 0 ended by itself after `ended`, and rank 1 went on until somebody interrupted the job at 10 s.
Job job_with_an_early_end(Nanoseconds ended) {
  constexpr Nanoseconds kInterrupted = 10'000'000'000;
  Job job = interrupted_job();
  for (RankTrace& rank : job.ranks) rank.ending.interrupted = kInterrupted;
  job.ranks[0].ending.closed = true;
  job.ranks[0].ending.recorded_until = ended;
  job.ranks[1].ending.recorded_until = kInterrupted + 100;
  return job;
}

// The one that goes on may have waited for the one that is gone: no operation has to be seen open.
TEST(Account, ARankThatEndedLongBeforeTheInterruptionWasWaitedFor) {
  const AccountReport report = account_of(job_with_an_early_end(6'999'999'999), 1);
  EXPECT_EQ(report.wall_ns, 10'000'000'100);
  ASSERT_EQ(report.ranks.size(), 2U);
  for (const RankAccount& rank : report.ranks) {
    EXPECT_EQ(rank.spent[Spending::start_up], 100);
    EXPECT_EQ(rank.spent[Spending::warm_up], 100);
    EXPECT_EQ(rank.spent[Spending::steady], 270);
    EXPECT_EQ(rank.spent[Spending::checkpoint], 30);
    EXPECT_EQ(rank.spent[Spending::after_failure], 9'999'999'600);
    EXPECT_EQ(rank.spent[Spending::other], 0);
    EXPECT_EQ(rank.spent[Spending::shutdown], 0);
  }
  expect_sums(report);
}

// Within 3 s the interruption itself may have ended it; where all ended by themselves, nobody was left to
// wait; and a file that was not closed tells of no end.
TEST(Account, ARankThatEndedByTheInterruptionWasNotWaitedFor) {
  const Job by_it = job_with_an_early_end(7'000'000'000);
  Job all_ended = job_with_an_early_end(6'999'999'999);
  all_ended.ranks[1].ending.closed = true;
  Job cut_short = job_with_an_early_end(6'999'999'999);
  cut_short.ranks[0].ending.closed = false;
  for (const Job& job : {by_it, all_ended, cut_short}) {
    const AccountReport report = account_of(job, 1);
    for (const RankAccount& rank : report.ranks) {
      EXPECT_EQ(rank.spent[Spending::after_failure], 0);
      EXPECT_EQ(rank.spent[Spending::other], 9'999'999'500) << "until the interruption";
      EXPECT_EQ(rank.spent[Spending::shutdown], 100);
    }
    expect_sums(report);
  }
}

// Nobody is there to wait for.
TEST(Account, AJobOfOneRankThatFailsDoesNotWait) {
  Job job = job_of_500().build();
  job.ranks.pop_back();
  job.end.exit_code = 1;
  EXPECT_EQ(account_of(job, 1).spent[Spending::after_failure], 0);
  EXPECT_EQ(account_of(job, 1).spent[Spending::shutdown], 20);
  job.ranks[0].ending.operations.emplace_back().begin = 501;
  EXPECT_EQ(account_of(job, 1).spent[Spending::after_failure], 20) << "but in what it was seen in";
}

TEST(Account, ARankThatCompilesUntilItsJobIsKilledCompiles) {
  JobBuilder builder;
  for (int rank = 0; rank < 2; ++rank) {
    builder.rank(rank).host_range(0, 60, "start-up: imports").compute(100, 110);
    builder.rank(rank).trace().ending.recorded_until = 10'000'000'000;
  }
  builder.rank(0).host_range(120, 10'000'000'000, "compilation: torch.compile");  // open: to the file's end
  Job job = builder.build();
  job.end.exit_code = 1;
  job.end.interrupted_by = 15;
  for (RankTrace& rank : job.ranks) rank.ending.interrupted = 9'999'999'000;
  const AccountReport report = account_of(job, kNoWarmUp, false);
  EXPECT_EQ(report.ranks[0].spent[Spending::compilation], 10'000'000'000 - 120);
  // Of the other one nothing is known: it was in no operation.
  EXPECT_EQ(report.spent[Spending::after_failure], 0);
  EXPECT_EQ(report.ranks[1].spent[Spending::other], 10'000'000'000 - 100);
}

// It was stopped, or killed, before its first work was on disk: what came then is no start.
TEST(Account, OfARankWhoseRecordEndsBeforeItsFirstWorkTheRestIsNoStart) {
  constexpr Nanoseconds kLater = 60'000'000'000;
  JobBuilder builder = job_of_500();
  builder.rank(2).host_range(0, 90, "other things");
  Job job = builder.build();
  job.end.exit_code = 1;
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = kLater;
  job.ranks[2].ending.recorded_until = 100;
  const AccountReport report = account_of(job, 1);
  EXPECT_EQ(report.ranks[2].spent[Spending::start_up], 100);
  EXPECT_EQ(report.ranks[2].spent[Spending::after_failure], report.ranks[2].spent.total() - 100);
  // Interrupted, and nobody saw one wait: it is not known what it did.
  Job interrupted = job;
  interrupted.end.interrupted_by = 15;
  for (RankTrace& rank : interrupted.ranks) rank.ending.interrupted = kLater;
  const Account spent = account_of(interrupted, 1).ranks[2].spent;
  EXPECT_EQ(spent[Spending::start_up], 100);
  EXPECT_EQ(spent[Spending::other], spent.total() - 100);
  // One that was recorded to the end and computed nothing never got further than its start.
  job.ranks[2].ending.recorded_until = kLater;
  EXPECT_EQ(account_of(job, 1).ranks[2].spent[Spending::start_up], kLater);
}

}  // namespace
}  // namespace lockstep::analyzer
