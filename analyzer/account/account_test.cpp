// Where a run's wall time went.
#include "analyzer/account/account.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "analyzer/account/account_jobs.h"
#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kAnyTime = Nanoseconds{1} << 62;

TEST(Account, GivesEachInstantToOneSpending) {
  const AccountReport report = account_of(job_of_500().build(), 1);
  EXPECT_EQ(report.wall_ns, 520);
  ASSERT_EQ(report.ranks.size(), 2U);
  const Account& spent = report.ranks[0].spent;
  EXPECT_EQ(spent[Spending::start_up], 100);
  EXPECT_EQ(spent[Spending::warm_up], 100);
  EXPECT_EQ(spent[Spending::steady], 270);
  EXPECT_EQ(spent[Spending::checkpoint], 30);
  EXPECT_EQ(spent[Spending::shutdown], 20);
  EXPECT_EQ(spent.total(), 520);
  EXPECT_EQ(report.spent[Spending::steady], 540);
  EXPECT_DOUBLE_EQ(*report.goodput, 540.0 / 1040);
}

TEST(Account, WithoutStepsThereIsNoGoodput) {
  JobBuilder job;
  job.rank(0).compute(50, 100).host_range(0, 10, "other things");
  const AccountReport report = account_of(job.build(), kNoWarmUp, false);
  EXPECT_EQ(report.spent[Spending::start_up], 50);
  EXPECT_EQ(report.spent[Spending::other], 50);
  EXPECT_EQ(report.goodput, std::nullopt);
}

TEST(Account, WhatIsSavedBesideTakesNoTime) {
  JobBuilder job = job_of_500();
  job.rank(1).host_range(410, 490, "checkpoint: torch.save (background)");
  const AccountReport report = account_of(job.build(), 1);
  EXPECT_EQ(report.ranks[0].checkpoint_beside_ns, 0);
  EXPECT_EQ(report.ranks[1].checkpoint_beside_ns, 80);
  EXPECT_EQ(report.ranks[1].spent[Spending::steady], 270);
}

TEST(Account, WhatWasNotRecordedIsNoTimeOfTheJobs) {
  Job job = job_of_500().build();
  for (RankTrace& rank : job.ranks) rank.unrecorded = {{200, 300}};
  const AccountReport report = account_of(job, 1);
  EXPECT_EQ(report.ranks[0].spent[Spending::not_recorded], 100);
  EXPECT_EQ(report.ranks[0].spent[Spending::steady], 170);
  EXPECT_DOUBLE_EQ(*report.goodput, 340.0 / 840);
}

// Rank 1's file is cut: what could not be read of it is neither its start nor its end.
Job with_cut_rank() {
  Job job = job_of_500().build();
  job.ranks[1].lost = {{-kAnyTime, kAnyTime}};
  return job;
}

TEST(Account, BehindTheEndOfWhatIsLeftOfACutFileNothingWasRecorded) {
  Job job = with_cut_rank();
  RankTrace& cut = job.ranks[1];
  std::erase_if(cut.steps, [](const StepMark& step) { return step.number > 1; });
  const Account spent = account_of(job, 1).ranks[1].spent;
  EXPECT_EQ(spent[Spending::start_up], 100);
  EXPECT_EQ(spent[Spending::warm_up], 100);
  EXPECT_EQ(spent[Spending::steady], 100);
  EXPECT_EQ(spent[Spending::checkpoint], 30) << "a range tells it";
  EXPECT_EQ(spent[Spending::not_recorded], 190);
  EXPECT_EQ(spent.total(), 520);
}

TEST(Account, OfACutFileWithoutStepsOnlyTheStartIsKnown) {
  Job job = with_cut_rank();
  RankTrace& cut = job.ranks[1];
  cut.steps.clear();
  const AccountReport with_activities = account_of(job, 1);
  EXPECT_EQ(with_activities.ranks[1].spent[Spending::start_up], 100);
  EXPECT_EQ(with_activities.ranks[1].spent[Spending::not_recorded], 390);
  EXPECT_EQ(with_activities.ranks[1].spent[Spending::other], 0);
  cut.activities.clear();
  const AccountReport report = account_of(job, 1);
  EXPECT_EQ(report.ranks[1].spent[Spending::start_up], 60) << "its ranges";
  EXPECT_EQ(report.ranks[1].spent[Spending::checkpoint], 30);
  EXPECT_EQ(report.ranks[1].spent[Spending::not_recorded], 430);
  EXPECT_EQ(report.ranks[1].spent.total(), 520);
  // Rank 0's alone: of rank 1 there is a start without the training.
  EXPECT_DOUBLE_EQ(*report.goodput, 270.0 / 520);
}

TEST(Account, WhereNoRankHasStepsWhatWasReadOfACutFileIsOther) {
  Job job = with_cut_rank();
  for (RankTrace& rank : job.ranks) {
    rank.steps.clear();
    rank.host_ranges.clear();
  }
  std::erase_if(job.ranks[1].activities, [](const Activity& activity) { return activity.begin > 200; });
  const Account spent = account_of(job, kNoWarmUp, false).ranks[1].spent;
  EXPECT_EQ(spent[Spending::other], 200);
  EXPECT_EQ(spent[Spending::not_recorded], spent.total() - 200) << "the wall time begins at the first work";
}

TEST(Account, ACutFileDoesNotTellWhatCameOfAFailure) {
  Job job = with_cut_rank();
  job.end.exit_code = 1;
  job.ranks[0].ending.closed = true;
  const AccountReport report = account_of(job, 1);
  EXPECT_EQ(report.ranks[0].spent[Spending::after_failure], 20);
  EXPECT_EQ(report.ranks[1].spent[Spending::after_failure], 0);
  EXPECT_EQ(report.ranks[1].spent[Spending::not_recorded], 20);
}

// Profilers record a part of a run: when the rank's process began and ended, nobody can tell.
TEST(Account, OutsideOfAProfileOfAPartOfTheRunNothingWasRecorded) {
  JobBuilder job;
  const auto profile = [&job](int rank, int first_step, int steps) {
    for (int step = first_step; step < first_step + steps; ++step) {
      const Nanoseconds begin = 100 * step;
      job.rank(rank).step(step, begin, begin + 100);
      job.rank(rank).compute(begin + 10, begin + 100).launched(begin + 10, begin + 11);
    }
    job.rank(rank).host_range(100 * (first_step + steps), 100 * (first_step + steps) + 5,
                              "stop the profiler");
  };
  profile(0, 0, 4);  // [0, 405)
  profile(1, 1, 2);  // [100, 305)
  Job profiled = job.build();
  AccountReport report = account_of(profiled);
  EXPECT_EQ(report.wall_ns, 405);
  ASSERT_EQ(report.ranks.size(), 2U);
  EXPECT_EQ(report.ranks[0].spent[Spending::not_recorded], 0);
  EXPECT_EQ(report.ranks[0].spent[Spending::shutdown], 5) << "recorded, behind the last step";
  const Account& spent = report.ranks[1].spent;
  EXPECT_EQ(spent[Spending::not_recorded], 100 + 100);
  EXPECT_EQ(spent[Spending::start_up], 10) << "of what was recorded";
  EXPECT_EQ(spent[Spending::steady], 190);
  EXPECT_EQ(spent[Spending::shutdown], 5);
  EXPECT_EQ(spent[Spending::other], 0);
  expect_sums(report);
  EXPECT_DOUBLE_EQ(*report.goodput, (390.0 + 190) / (405 + 205));
  // A flight recorder's dump is written because the job hung: what is behind its last operation is known.
  profiled.ranks[1].ending.hang_noted = 400;
  EXPECT_EQ(account_of(profiled).ranks[1].spent[Spending::not_recorded], 0);
  profiled.ranks[1].ending.hang_noted = kUnknownTime;
  // A file that says until when it was recorded tells when the rank ended.
  profiled.ranks[1].ending.recorded_until = 305;
  report = account_of(profiled);
  EXPECT_EQ(report.ranks[1].spent[Spending::not_recorded], 0);
  EXPECT_EQ(report.ranks[1].spent[Spending::start_up], 110);
  EXPECT_EQ(report.ranks[1].spent[Spending::shutdown], 105);
  expect_sums(report);
}

// The GPU's buffers overflowed for a while: the host's steps are there.
TEST(Account, AGapInWhatADeviceDidIsNoCut) {
  Job job = job_of_500().build();
  const AccountReport before = account_of(job, 1);
  job.ranks[1].lost = {{310, 520}};
  EXPECT_EQ(account_of(job, 1).ranks[1].spent.ns, before.ranks[1].spent.ns);
}

TEST(Account, ARankWithoutAnythingIsInNone) {
  JobBuilder job = job_of_500();
  job.rank(7).trace().ending.recorded_until = 100000;
  const AccountReport report = account_of(job.build(), 1);
  EXPECT_EQ(report.ranks.size(), 2U);
  EXPECT_EQ(report.wall_ns, 520);
  EXPECT_EQ(account_of(JobBuilder().build()).wall_ns, 0);
}

TEST(Account, ClocksThatAreNotRelatedAreNotCompared) {
  Job job = job_of_500().build();
  for (Activity& activity : job.ranks[1].activities) activity.begin += 1000000, activity.end += 1000000;
  for (HostRange& range : job.ranks[1].host_ranges) range.begin += 1000000, range.end += 1000000;
  for (StepMark& step : job.ranks[1].steps) step.begin += 1000000, step.end += 1000000;
  for (Activity& activity : job.ranks[1].activities)
    activity.launch_begin += 1000000, activity.launch_end += 1000000;
  job.ranks[1].ending.recorded_until += 1000000;
  job.ranks[1].clock.related = false;
  const AccountReport report = account_of(job, 1);
  EXPECT_EQ(report.wall_ns, 520);
  EXPECT_EQ(report.ranks[1].spent.ns, report.ranks[0].spent.ns);
}

// An instant goes to the first set that holds it, looked up one by one.
TEST(Account, DividesAsTheOracleDoes) {
  std::mt19937 random(1);
  const auto number = [&random](int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random);
  };
  for (int round = 0; round < 300; ++round) {
    SpendingSets sets;
    for (std::size_t i = 0; i + 1 < kSpendingCount; ++i) {
      std::vector<Interval> intervals;
      for (int k = number(4); k > 0; --k) {
        const Nanoseconds begin = number(80) - 10;
        intervals.push_back({begin, begin + number(30)});
      }
      sets[i] = IntervalSet::from(intervals);
    }
    const Interval wall{number(20), 20 + number(60)};
    const std::vector<SpendingSegment> segments = divide(sets, wall);
    Account expected;
    Nanoseconds at = wall.begin;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      ASSERT_EQ(segments[i].begin, at);
      ASSERT_LT(segments[i].begin, segments[i].end);
      if (i > 0) {
        ASSERT_NE(segments[i].spending, segments[i - 1].spending);
      }
      at = segments[i].end;
    }
    ASSERT_EQ(at, wall.end);
    for (Nanoseconds t = wall.begin; t < wall.end; ++t) {
      std::size_t spending = 0;
      while (spending + 1 < kSpendingCount && !sets[spending].contains(t)) ++spending;
      ++expected.ns[spending];
    }
    ASSERT_EQ(sum(segments).ns, expected.ns) << round;
    ASSERT_EQ(expected.total(), wall.end - wall.begin);
  }
}

// Random ranks: sums are exact, and no time is counted twice, whatever ranges and steps they have.
TEST(Account, OfRandomRanksSumsToTheWallTime) {
  std::mt19937 random(2);
  const auto number = [&random](int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random);
  };
  const char* const names[] = {"torch.save",        "evaluate", "compile",
                               "start-up: imports", "anything", "checkpoint: x (background)"};
  for (int round = 0; round < 200; ++round) {
    JobBuilder job;
    for (int rank = 0; rank < 1 + number(3); ++rank) {
      Nanoseconds now = number(100);
      for (int step = 0; step < number(6); ++step) {
        const Nanoseconds length = 1 + number(50);
        job.rank(rank).step(step, now, now + length);
        if (number(4) > 0) job.rank(rank).compute(now, now + number(80)).launched(now, now);
        now += length + number(20);
      }
      for (int range = number(5); range > 0; --range) {
        const Nanoseconds begin = number(400);
        job.rank(rank).host_range(begin, begin + number(100), names[number(6)]);
      }
      job.rank(rank).compute(now, now + 5);
    }
    Job built = job.build();
    if (number(2) == 0) built.end.signal = 9;
    for (RankTrace& rank : built.ranks)
      if (number(3) == 0) rank.lost = {{number(400), number(2) == 0 ? kAnyTime : 500}};
    const AccountReport report = account_of(built, number(6));
    std::int64_t sum = 0;
    for (const RankAccount& rank : report.ranks) {
      ASSERT_EQ(rank.spent.total(), report.wall_ns) << round;
      for (const std::int64_t ns : rank.spent.ns) ASSERT_GE(ns, 0);
      sum += rank.spent.total();
    }
    ASSERT_EQ(report.spent.total(), sum);
  }
}

}  // namespace
}  // namespace lockstep::analyzer
