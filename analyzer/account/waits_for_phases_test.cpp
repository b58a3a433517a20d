// What ranks wait for another's checkpoint, evaluation or compilation is no training of theirs.
#include "analyzer/account/waits_for_phases.h"

#include <gtest/gtest.h>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

// Three ranks, twelve steps of 100: 60 of compute, then an all-reduce that all end at 90. In step 5 rank 0 is
// in a range [560, 760) before it computes, so that the others wait in the all-reduce of that step from 560
// on, until 820.
constexpr Nanoseconds kLate = 200;
Job job_with(const char* range, bool computes_beside = false) {
  JobBuilder job;
  Nanoseconds begin = 0;
  for (int step = 0; step < 12; ++step) {
    const Nanoseconds late = step == 5 ? kLate : 0;
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      const Nanoseconds own = rank == 0 ? late : 0;
      job.rank(rank).step(step, begin, begin + 100 + late);
      job.rank(rank).compute(begin + own, begin + 60 + own).launched(begin + own, begin + own + 1);
      if (computes_beside && step == 5 && rank == 1)
        job.rank(rank).compute(begin + 100, begin + 150).launched(begin + 99, begin + 100);
      job.rank(rank)
          .all_reduce(begin + 60 + own, begin + 90 + late)
          .launched(begin + 60 + own, begin + 61 + own);
      if (own > 0) job.rank(rank).host_range(begin, begin + own, range);
    }
    begin += 100 + late;
  }
  return job.build();
}

AccountReport account_of(const Job& job) {
  return checked_analysis(job).report.account;
}

TEST(WaitsForPhases, AreSpentOnWhatTheOtherRankDoes) {
  for (const auto& [range, spending] :
       {std::pair("torch.save", Spending::checkpoint), std::pair("evaluation: all", Spending::evaluation),
        std::pair("compilation: torch.compile", Spending::compilation)}) {
    const AccountReport account = account_of(job_with(range));
    ASSERT_EQ(account.ranks.size(), 3U);
    EXPECT_EQ(account.ranks[0].spent[spending], kLate) << range;
    for (const std::size_t rank : {1U, 2U}) {
      // It waits from 60 behind the step's begin on.
      EXPECT_EQ(account.ranks[rank].spent[spending], kLate - 60) << range;
      EXPECT_EQ(account.ranks[rank].spent.total(), account.wall_ns);
    }
  }
}

// Rank 0 begins its first step `late` later than the others, which wait in the all-reduce of theirs.
AccountReport with_late_start(Nanoseconds unit, Nanoseconds late) {
  JobBuilder job;
  Nanoseconds begin = 0;
  for (int step = 0; step < 12; ++step) {
    const Nanoseconds more = step == 0 ? late : 0;
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      const Nanoseconds own = rank == 0 ? begin + more : begin;
      if (step == 0) job.rank(rank).host_range(-50 * unit, -10 * unit, "start-up: imports");
      job.rank(rank).step(step, own, begin + 100 * unit + more);
      job.rank(rank).compute(own, own + 60 * unit).launched(own, own + 1);
      job.rank(rank)
          .all_reduce(own + 60 * unit, begin + 90 * unit + more)
          .launched(own + 60 * unit, own + 61 * unit);
    }
    begin += 100 * unit + more;
  }
  for (std::int32_t rank = 0; rank < 3; ++rank) job.rank(rank).trace().ending.recorded_until = begin;
  return account_of(job.build());
}

TEST(WaitsForPhases, AreStartUpWhereTheOtherRankStartsLater) {
  const AccountReport account = with_late_start(1, kLate);
  ASSERT_EQ(account.ranks.size(), 3U);
  EXPECT_EQ(account.ranks[0].spent[Spending::start_up], 50 + kLate);
  for (const std::size_t rank : {1U, 2U}) {
    EXPECT_EQ(account.ranks[rank].spent[Spending::start_up], 50 + kLate - 60);
    EXPECT_EQ(account.ranks[rank].spent.total(), account.wall_ns);
  }
  EXPECT_FALSE(account.late_start.has_value()) << "nobody waited a second";
}

TEST(WaitsForPhases, WhoStartsLateIsNamed) {
  constexpr Nanoseconds kUnit = 10'000'000;
  const AccountReport account = with_late_start(kUnit, 300 * kUnit);
  ASSERT_TRUE(account.late_start.has_value());
  EXPECT_EQ(account.late_start->rank, 0);
  EXPECT_EQ(account.late_start->waited_ns, 240 * kUnit);
  EXPECT_FALSE(with_late_start(kUnit, 250 * kUnit).late_start.has_value()) << "1.9 s";
}

TEST(WaitsForPhases, AreTrainingWhereTheRankComputesMeanwhile) {
  EXPECT_EQ(account_of(job_with("torch.save", true)).ranks[1].spent[Spending::checkpoint], kLate - 60 - 50);
}

TEST(WaitsForPhases, AreTrainingWhereTheOtherRankIsOnlyLate) {
  const AccountReport account = account_of(job_with("something else"));
  for (const RankAccount& rank : account.ranks) EXPECT_EQ(rank.spent[Spending::checkpoint], 0);
}

}  // namespace
}  // namespace lockstep::analyzer
