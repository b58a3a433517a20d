// Waiting in turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/lateness/late_ranks.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// `steps` steps on three ranks, one of which, by chance, is late by 300 µs: because it computes longer, or
// because its host launches late.
Report taking_turns(int steps, bool host, unsigned seed = 1) {
  std::mt19937 random(seed);
  JobBuilder job;
  for (int step = 0; step < steps; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    const auto late_rank = static_cast<std::int32_t>(random() % 3);
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      const Nanoseconds late = rank == late_rank ? 300 * us : 0, idle = host ? late : 0;
      job.rank(rank).step(step, begin, begin + 900 * us);
      job.rank(rank).compute(begin, begin + 100 * us).launched(begin, begin + 1);
      job.rank(rank)
          .compute(begin + 100 * us + idle, begin + 500 * us + late)
          .launched(begin + (host ? 99 * us + idle : 2), begin + (host ? 100 * us + idle : 3));
      job.rank(rank)
          .all_reduce(begin + 500 * us + late, begin + 810 * us)
          .launched(begin + 101 * us + idle, begin + 102 * us + idle);
    }
  }
  return report_of(job);
}

TEST(Jitter, NamesNobodyAndSaysWhereItComesFrom) {
  for (const bool host : {false, true}) {
    const Report report = taking_turns(30, host);
    const Finding found = finding(report, "jitter");
    EXPECT_EQ(found.accuses, Accused::nobody);
    EXPECT_EQ(found.rank, std::nullopt);
    EXPECT_EQ(found.lost_ns, 30 * 2 * 300 * us);
    // 200 µs in the mean of the ranks, of steps of 1000 µs; the last one is shorter.
    EXPECT_THAT(found.title, HasSubstr("ranks take turns being late: jitter costs 20.1 % of each step"));
    EXPECT_THAT(found.evidence, Contains(HasSubstr(host ? "launches later" : "computes longer")));
    EXPECT_THAT(found.evidence, Contains(HasSubstr("would show after about")));
    for (const Finding& one : report.findings) EXPECT_NE(one.accuses, Accused::rank) << one.code;
  }
}

// Rank 1 is late in every step, by little in most and by much in the others: beyond chance, and by less than
// its mean moves between blocks.
TEST(Jitter, DoesNotSayThatNobodyIsLateBeyondChanceWhereOneIs) {
  JobBuilder job;
  for (int step = 0; step < 36; ++step) {
    const Nanoseconds begin = step * 1000 * us, late = (step / 3 % 6 == 5 ? 400 : 8) * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds ready = begin + 500 * us + (rank == 1 ? late : 0);
      job.rank(rank).step(step, begin, begin + 950 * us);
      job.rank(rank).compute(begin, ready).launched(begin, begin + 1);
      job.rank(rank).all_reduce(ready, begin + 910 * us).launched(begin + 2, begin + 3);
    }
  }
  const Report report = report_of(job);
  ASSERT_LE(report.lateness.ranks[1].chance, kWholeRunLevel);
  ASSERT_FALSE(report.lateness.ranks[1].is_late);
  const Finding found = finding(report, "jitter");
  EXPECT_EQ(found.accuses, Accused::nobody);
  EXPECT_THAT(found.title, HasSubstr("whether one of them is to blame can't be told"));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("rank 1 most often, in 100.0 % of them")));
  EXPECT_THAT(found.evidence, Not(Contains(HasSubstr("beyond chance"))));
}

// Rank 1 takes 20 ms longer once, and both are a little late in turn else: no jitter costs each step that.
TEST(Jitter, OfOneStepIsNoJitter) {
  JobBuilder job;
  Nanoseconds begin = 0;
  for (int step = 0; step < 30; ++step) {
    const Nanoseconds pause = step == 12 ? 20'000 * us : 0;
    const Nanoseconds end = begin + 950 * us + pause;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds ready = begin + 500 * us + (rank == step % 2 ? 10 * us : 0) + (rank == 1 ? pause : 0);
      job.rank(rank).step(step, begin, end);
      job.rank(rank).compute(begin, ready).launched(begin, begin + 1);
      job.rank(rank).all_reduce(ready, end - 40 * us).launched(begin + 2, begin + 3);
    }
    begin = end;
  }
  const Finding found = finding(report_of(job), "jitter");
  EXPECT_EQ(found.accuses, Accused::nobody);
  EXPECT_THAT(found.title, HasSubstr("once, in step 12, the ranks waited for rank 1: 98."));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("rank 1 computes longer then")));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("in each of the 29 other steps they wait for 10.0 µs")));
  EXPECT_THAT(found.remedy, HasSubstr("once is no pattern"));
}

TEST(Jitter, OfFewStepsIsNotSaid) {
  EXPECT_THAT(codes_of(taking_turns(5, false).findings), Not(Contains("jitter")));
}

}  // namespace
}  // namespace lockstep::analyzer
