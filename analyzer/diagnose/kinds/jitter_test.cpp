// Waiting in turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/lateness/late_ranks.h"
#include "analyzer/report/shared_time.h"

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

// Rank 2 has less to do in every step, and the others differ by a little in turn.
TEST(Jitter, OfARankThatIsAlwaysEarlyIsNoTakingTurns) {
  std::mt19937 random(3);
  JobBuilder job;
  for (int step = 0; step < 30; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 6; ++rank) {
      const Nanoseconds end = begin + (rank == 2 ? 400 : 500 + static_cast<int>(random() % 20)) * us;
      job.rank(rank).step(step, begin, begin + 900 * us);
      job.rank(rank).compute(begin, end).launched(begin, begin + 1);
      job.rank(rank).all_reduce(end, begin + 600 * us).launched(begin + 2, begin + 3);
    }
  }
  const Finding found = finding(report_of(job), "jitter");
  EXPECT_EQ(found.accuses, Accused::nobody);
  EXPECT_THAT(
      found.title,
      HasSubstr("rank 2 computes for less time than the others in nearly every step and waits for them"));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("it computes for 400 µs, the others for 5")));
}

// Rank 1 is late in every step by 50 µs, of clocks of which nobody knows to 60 µs how far they are apart.
TEST(Jitter, SaysThatTheClocksLeaveOpenWhetherARankIsLate) {
  for (const std::int64_t uncertainty : {20 * us, 30 * us}) {
    JobBuilder job;
    for (int step = 0; step < 36; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      for (std::int32_t rank = 0; rank < 2; ++rank) {
        const Nanoseconds ready = begin + 500 * us + (rank == 1 ? 50 * us : 0);
        job.rank(rank).step(step, begin, begin + 950 * us);
        job.rank(rank).compute(begin, ready).launched(begin, begin + 1);
        job.rank(rank).all_reduce(ready, begin + 910 * us).launched(begin + 2, begin + 3);
        job.rank(rank).trace().clock.domain = static_cast<std::uint32_t>(rank);
        job.rank(rank).trace().clock.uncertainty_ns = uncertainty;
      }
    }
    const Report report = report_of(job);
    const RankLateness& late = report.lateness.ranks[1];
    EXPECT_EQ(late.mean_ns, 50 * us);
    EXPECT_EQ(late.clock_error_ns, 2 * uncertainty);
    if (uncertainty < 25 * us) {
      EXPECT_TRUE(late.is_late);
      continue;
    }
    EXPECT_FALSE(late.is_late);
    EXPECT_EQ(late.not_accused_because, NotAccused::clock_error);
    const Finding found = finding(report, "jitter");
    EXPECT_THAT(found.title, HasSubstr("whether one of them is to blame can't be told"));
    EXPECT_THAT(found.evidence,
                Contains(HasSubstr("by 50.0 µs in the mean, and the clocks may be off by 60.0 µs")));
    EXPECT_THAT(found.evidence, Not(Contains(HasSubstr("lateness moves"))));
    EXPECT_THAT(found.remedy, HasSubstr("how far the clocks are apart"));
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
  EXPECT_THAT(found.evidence, Contains(HasSubstr("in each of 36 steps rank 1 is the latest")));
  EXPECT_THAT(found.evidence, Not(Contains(HasSubstr("beyond chance"))));
}

// Rank 1's threads run 100 µs longer in every step, and in some blocks of steps it takes 800 µs longer
// without running: that it runs longer is certain, and by how much it is late is not.
TEST(Jitter, BesideARankThatIsNamedCountsWhatIsLeftAndDoesNotSayThatNobodyIsToBlame) {
  constexpr int kSteps = 36;
  JobBuilder job;
  SchedulingPoint looks[2] = {{0, 0, 0, 0, false}, {0, 0, 0, 0, false}};
  for (std::int32_t rank = 0; rank < 2; ++rank) job.rank(rank).trace().scheduling = {looks[rank]};
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = step * 1500 * us, stands = (step / 3 % 6 == 5 ? 800 : 0) * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds runs = (rank == 1 ? 300 : 200) * us, ready = begin + runs + (rank == 1 ? stands : 0);
      job.rank(rank).step(step, begin, begin + 1450 * us);
      job.rank(rank).compute(begin, ready).launched(begin, begin + 1);
      job.rank(rank).all_reduce(ready, begin + 1400 * us).launched(begin + 2, begin + 3);
      looks[rank].time = begin + 1500 * us;
      looks[rank].on_cpu_ns += runs;
      looks[rank].known = true;
      job.rank(rank).trace().scheduling.push_back(looks[rank]);
    }
  }
  const Report report = report_of(job);
  const Finding late = finding(report, "straggler_persistent"), found = finding(report, "jitter");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(found.accuses, Accused::nobody);
  const std::int64_t waited = report.ranks[0].measures.partition[Cause::barrier_wait] +
                              report.ranks[1].measures.partition[Cause::barrier_wait];
  EXPECT_GT(late.lost_ns, 0);
  EXPECT_EQ(found.lost_ns, waited - late.lost_ns);
  EXPECT_THAT(found.title,
              HasSubstr("beyond what rank 1 is named for, ranks wait for each other: jitter costs "));
  for (const std::string& said : found.evidence) {
    EXPECT_THAT(said, Not(HasSubstr("leaves open")));
    EXPECT_THAT(said, Not(HasSubstr("would tell")));
  }
  // What is counted of the one is not counted of the other.
  for (const Finding& one : report.findings) {
    if (one.cause == Cause::barrier_wait) {
      EXPECT_EQ(describe_shared_time(report, one), "") << one.code;
    }
  }
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

// Two ranks; once in five steps each stops for 300 µs: rank 0 in one step, rank 1 in the next. It does so
// before the step's all-reduce, or behind it, where the other one waits in the all-reduce of the next step.
Report stopping_in_neighbouring_steps(bool behind, const char* doing) {
  JobBuilder job;
  std::vector<Nanoseconds> at(2, 0);  // by rank
  for (int step = 0; step < 40; ++step) {
    std::vector<Nanoseconds> ready(2), stop(2);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      stop[index] = step % 5 == 2 + rank ? 300 * us : 0;
      ready[index] = at[index] + 500 * us + (behind ? 0 : stop[index]);
    }
    const Nanoseconds reduced = std::max(ready[0], ready[1]) + 50 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      const Nanoseconds begin = at[index], stopped = behind ? reduced : begin + 100 * us;
      RankBuilder& builder = job.rank(rank);
      if (stop[index] > 0) builder.host_range(stopped, stopped + stop[index], doing);
      builder.compute(begin, begin + 100 * us).launched(begin, begin + 1);
      builder.compute(ready[index] - 400 * us, ready[index])
          .launched(ready[index] - 402 * us, ready[index] - 401 * us);
      builder.all_reduce(ready[index], reduced).launched(ready[index] - 400 * us, ready[index] - 399 * us);
      at[index] = reduced + (behind ? stop[index] : 0) + 10 * us;
      builder.step(step, begin, at[index]);
    }
  }
  return report_of(job);
}

TEST(Jitter, OfGarbageThatRanksCollectInNeighbouringStepsSaysSo) {
  for (const bool behind : {false, true}) {
    const Finding found = finding(stopping_in_neighbouring_steps(behind, "garbage collection"), "jitter");
    EXPECT_EQ(found.accuses, Accused::nobody);
    EXPECT_THAT(found.title, testing::StartsWith("ranks collect garbage at different times and wait for each "
                                                 "other: that costs "));
    EXPECT_THAT(found.evidence, Contains("garbage collection, on 2 ranks, is 4.80 ms of the 4.80 ms by which "
                                         "the latest ranks of the steps are late"))
        << behind;
    EXPECT_THAT(found.remedy, HasSubstr("gc.collect() on all ranks in the same step"));
  }
}

// Four of eight ranks collect in the same step. Each explains the same lateness, which counts once.
TEST(Jitter, OfGarbageThatSeveralRanksCollectAtOnceCountsItsLatenessOnce) {
  JobBuilder job;
  Nanoseconds at = 0;
  for (int step = 0; step < 40; ++step) {
    const int first = step % 2 == 0 ? 0 : 4;  // of the four
    const Nanoseconds reduced = at + 850 * us;
    for (std::int32_t rank = 0; rank < 8; ++rank) {
      const bool collects = rank >= first && rank < first + 4;
      const Nanoseconds ready = at + 500 * us + (collects ? 300 * us : 0);
      RankBuilder& builder = job.rank(rank);
      if (collects) builder.host_range(at + 100 * us, at + 400 * us, "garbage collection");
      builder.compute(at, at + 100 * us).launched(at, at + 1);
      builder.compute(ready - 400 * us, ready).launched(ready - 402 * us, ready - 401 * us);
      builder.all_reduce(ready, reduced).launched(ready - 400 * us, ready - 399 * us);
      builder.step(step, at, reduced + 10 * us);
    }
    at = reduced + 10 * us;
  }
  const Finding found = finding(report_of(job), "jitter");
  EXPECT_THAT(found.evidence,
              Contains("garbage collection, on 2 ranks, is 12.0 ms of the 12.0 ms by which the "
                       "latest ranks of the steps are late"));
}

TEST(Jitter, OfOtherStopsSaysNothingOfGarbage) {
  const Finding found = finding(stopping_in_neighbouring_steps(false, "other things"), "jitter");
  EXPECT_THAT(found.title, HasSubstr("none is late throughout: jitter costs "));
  EXPECT_THAT(found.evidence, Not(Contains(HasSubstr("garbage"))));
}

TEST(Jitter, OfFewStepsIsNotSaid) {
  EXPECT_THAT(codes_of(taking_turns(5, false).findings), Not(Contains("jitter")));
}

}  // namespace
}  // namespace lockstep::analyzer
