// Who is blamed, and for what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/root_cause.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Blame, IsTheSumOfTheOthersWaits) {
  const Report report = report_of(straggling_job(12, 2, 100));
  ASSERT_FALSE(report.blame.empty());
  const BlameReport& blame = report.blame[0];
  EXPECT_EQ(blame.rank, 2);
  // Each step the others arrive 102, 101 and 99 µs before rank 2.
  EXPECT_EQ(blame.blame_ns, 12 * (102 + 101 + 99) * us);
  EXPECT_EQ(blame.collectives, 12);
  EXPECT_EQ(blame.persistent, true);
}

TEST(Blame, ASlowComputationIsNamedBesideTheOthersMedian) {
  const Report report = report_of(straggling_job(4, 2, 100));
  EXPECT_EQ(
      report.blame.at(0).root_cause,
      "before these 4 operations it computed for 402 µs on average, the others for 301 µs; above all in "
      "`layer`: 402 µs beside 301 µs");
}

TEST(Blame, TooFewStepsTellNothingOfPersistence) {
  EXPECT_FALSE(report_of(straggling_job(2, 2, 100)).blame.at(0).persistent.has_value());
}

TEST(Blame, ARankThatIsLastInFewStepsIsTransient) {
  const Report report =
      report_of(straggling_job(9, 1, 100, 3));  // rank 1 in 3 of 9 steps, else rank 3 by 1 µs
  EXPECT_EQ(report.blame.at(0).rank, 1);
  EXPECT_EQ(report.blame.at(0).persistent, false);
}

// Rank 1 is late because it loads data; the second all-reduce is late for the same reason: compute ran on
// under the first.
TEST(Blame, LatenessIsTracedToWhereTheRanksLastLeftTogether) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const Nanoseconds late = rank == 1 ? 500 * us : rank * us;
    RankBuilder& builder = job.rank(rank);
    builder.compute(0, 10 * us).launched(-10, -5);
    builder.compute(10 * us + late, 110 * us + late, "first")
        .launched(10 * us + late - 2, 10 * us + late - 1);
    builder.all_reduce(110 * us + late, 650 * us).launched(0, 1);
    builder.compute(110 * us + late, 700 * us + late, "second")
        .launched(0, 1);  // runs on under the all-reduce
    builder.all_reduce(700 * us + late, 1300 * us).launched(0, 1);
    if (rank == 1) builder.data_loading(10 * us, 510 * us);
  }
  const Report report = report_of(job);
  ASSERT_EQ(report.blame.size(), 1u);
  EXPECT_EQ(report.blame[0].collectives, 2);
  EXPECT_THAT(
      report.blame[0].root_cause,
      HasSubstr(
          "before these 2 operations it waited for data loading for 500 µs on average, the others not at "
          "all"));
}

// Compute runs on under every all-reduce but the fourth's, so that what makes the rank late counts over
// several steps.
TEST(Blame, WhatCountsOverMoreThanAStepIsSaidTo) {
  const auto cause = [](bool in_steps) {
    JobBuilder job;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds longer = rank == 1 ? 300 * us : 0;
      job.rank(rank).compute(0, 10 * us).launched(-10, -5);
      job.rank(rank).all_reduce(10 * us, 20 * us).launched(0, 1);
      for (int step = 0; step < 4; ++step) {
        const Nanoseconds begin = 20 * us + step * 1000 * us;
        if (in_steps) job.rank(rank).step(step, begin, begin + 1000 * us);
        job.rank(rank).compute(begin, begin + 500 * us + longer).launched(begin, begin + 1);
        job.rank(rank).all_reduce(begin + 500 * us + longer, begin + 900 * us).launched(begin, begin + 1);
        job.rank(rank).compute(begin + 850 * us, begin + 1000 * us).launched(begin, begin + 1);
      }
    }
    return report_of(job).blame.at(0).root_cause;
  };
  // In steps of 1 ms: since the first all-reduce.
  EXPECT_THAT(cause(true),
              HasSubstr("it computed for 2.23 ms on average, the others for 1.48 ms (in the 2.30 ms "
                        "since the ranks last left an operation together, more than a step)"));
  EXPECT_THAT(cause(false), Not(HasSubstr("more than a step")));
}

TEST(Blame, AHostThatLaunchesLateIsSaid) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const Nanoseconds late = rank == 2 ? 200 * us : 0;
    job.rank(rank).compute(0, 10 * us).launched(-10, -5);
    job.rank(rank).all_reduce(20 * us + late, 300 * us).launched(19 * us + late, 20 * us + late);
  }
  EXPECT_EQ(
      report_of(job).blame.at(0).root_cause,
      "before that operation its device idled with nothing launched for 210 µs, the others for 10.0 µs");
}

// Rank 2's clock is 500 µs ahead, which nobody knows. That it also computed 2 µs longer before the second
// all-reduce does not explain the 502 µs that it seems to be late there.
// Ranks enter the recording at different times, and do the same from there on.
TEST(Blame, WhoComesLateIntoTheRecordingIsNotAccusedOfIdling) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const Nanoseconds begin = rank == 2 ? 900 * us : rank * 10 * us;
    RankBuilder& builder = job.rank(rank);
    builder.step(7, begin, 2000 * us);
    builder.compute(begin + 100 * us, begin + 150 * us).launched(begin + 50 * us, begin + 60 * us);
    builder.all_reduce(begin + 150 * us, 1100 * us).launched(begin + 61 * us, begin + 62 * us);
  }
  const Report report = report_of(job);
  ASSERT_EQ(report.blame.at(0).rank, 2);
  EXPECT_EQ(report.blame[0].root_cause,
            "it came into the recording 900 µs after the first rank, the others 10.0 µs after it: what it "
            "did before is not in the trace");
}

// The same, but what is late is within the recording: the step begins for all at once.
TEST(Blame, WhatIsLateWithinTheRecordingIsSaidAsBefore) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const Nanoseconds late = rank == 2 ? 900 * us : rank * 10 * us;
    RankBuilder& builder = job.rank(rank);
    builder.step(7, 0, 2000 * us);
    builder.compute(late + 100 * us, late + 150 * us).launched(late + 50 * us, late + 60 * us);
    builder.all_reduce(late + 150 * us, 1100 * us).launched(late + 61 * us, late + 62 * us);
  }
  const Report report = report_of(job);
  EXPECT_THAT(report.blame.at(0).root_cause, HasSubstr("its device idled with nothing launched for"));
}

TEST(Blame, WhatExplainsLittleOfTheLatenessIsNotClaimed) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const Nanoseconds ahead = rank == 2 ? 500 * us : 0;
    const Nanoseconds longer = rank == 2 ? 2 * us : 0;
    job.rank(rank)
        .compute(ahead, ahead + 10 * us)
        .launched(-1, 0)
        .all_reduce(ahead + 10 * us, ahead + 600 * us);
    job.rank(rank).compute(ahead + 600 * us, ahead + 700 * us + longer).launched(0, 1);
    job.rank(rank).all_reduce(ahead + 700 * us + longer, ahead + 1300 * us);
  }
  const BlameReport blame = report_of(job).blame.at(0);
  EXPECT_EQ(blame.collectives, 2);
  EXPECT_EQ(blame.root_cause,
            "before that operation launched work did not start for 500 µs, the others not at all");
}

// Rank 1 is late in group "dp" because it waited for rank 2 in group "tp", which computed longer than rank 1
// there.
TEST(Blame, FollowsAChainOfWaitsIntoAnotherGroup) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1}), tp = job.group("tp", {1, 2});
  job.rank(0)
      .compute(0, 100 * us, "work")
      .launched(-9, -8)
      .all_reduce(100 * us, 460 * us)
      .in_group(dp)
      .sequence(0);
  job.rank(1)
      .compute(0, 90 * us, "work")
      .launched(-9, -8)
      .all_reduce(90 * us, 410 * us)
      .in_group(tp)
      .sequence(0);
  job.rank(1).all_reduce(410 * us, 460 * us).in_group(dp).sequence(0);
  job.rank(2)
      .compute(0, 400 * us, "work")
      .launched(-9, -8)
      .all_reduce(400 * us, 410 * us)
      .in_group(tp)
      .sequence(0);
  const Report report = report_of(job);
  ASSERT_EQ(report.blame.size(), 2u);
  EXPECT_EQ(report.blame[0].rank, 1);  // rank 0 waits 310 µs for it, as rank 1 does for rank 2
  EXPECT_EQ(report.blame[1].rank, 2);
  EXPECT_EQ(
      report.blame[0].root_cause,
      "it waited itself, in all_reduce of group tp, for rank 2: there, before that operation it computed for "
      "400 µs, the others for 90.0 µs; above all in `work`: 400 µs beside 90.0 µs");
}

// Two buckets wait for the same late rank at the same time: each says how long, and the time is lost once.
TEST(Blame, WaitingInTwoOperationsAtOnceIsLostOnce) {
  constexpr int kTimes = 12;
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < kTimes; ++i) {
      const Nanoseconds begin = i * 700 * us;
      job.rank(rank).step(i, begin, begin + 690 * us);
      const Nanoseconds ready = begin + 100 * us + (rank == 1 ? 400 * us : 0);
      job.rank(rank).compute(begin, ready).launched(begin, begin + 1);
      job.rank(rank).all_reduce(ready, begin + 600 * us).launched(begin, begin + 1).sequence(2 * i);
      job.rank(rank)
          .all_reduce(ready + 100 * us, begin + 700 * us)
          .launched(begin, begin + 1)
          .sequence(2 * i + 1);
    }
  }
  const Report report = report_of(job);
  ASSERT_EQ(report.blame.size(), 1u);
  EXPECT_EQ(report.blame[0].rank, 1);
  EXPECT_EQ(report.blame[0].blame_ns, kTimes * (400 + 400) * us);
  // From 500 µs on the first one moves data.
  EXPECT_EQ(report.blame[0].exposed_ns, kTimes * 400 * us);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::barrier_wait], kTimes * 400 * us);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].code, "straggler_persistent");
  EXPECT_EQ(report.findings[0].lost_ns, kTimes * 400 * us);
  EXPECT_THAT(report.findings[0].evidence, Contains(HasSubstr("often in several at once")));
}

// Its only computation came in four pieces, because it was interrupted: that is not more work.
TEST(Blame, PiecesOfWorkAreNotMoreWork) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    if (rank == 2) {
      for (int i = 0; i < 4; ++i)
        job.rank(rank).compute(i * 110 * us, i * 110 * us + 100 * us, "work").launched(-9, -8);
    } else {
      job.rank(rank).compute(0, 10 * us, "work").launched(-9, -8);
    }
    job.rank(rank).all_reduce(rank == 2 ? 430 * us : 10 * us, 500 * us).launched(0, 1);
  }
  EXPECT_THAT(report_of(job).blame.at(0).root_cause,
              testing::AllOf(HasSubstr("`work`: 400 µs beside 10.0 µs"), Not(HasSubstr("it ran"))));
}

TEST(ShortName, DropsWhatIsBetweenBrackets) {
  EXPECT_EQ(short_name("void at::native::add<float, f<2>>(int, float*)"), "at::native::add");
  EXPECT_EQ(short_name("forward layer 5 (repeated)"), "forward layer 5 (repeated)");
  EXPECT_EQ(short_name("at::native::(anonymous namespace)::copy(int)"),
            "at::native::(anonymous namespace)::copy");
  EXPECT_EQ(short_name("a::b<"), "a::b<");
  EXPECT_EQ(short_name(""), "");
}

// Rank 3 has no record: whoever is last among the others is no persistent straggler, because rank 3 may have
// been later, and what the others moved may have been waiting for it.
TEST(Partial, NobodyIsConvictedWhereARankHasNoRecord) {
  JobBuilder job;
  const std::uint32_t everyone = job.group("world", {0, 1, 2, 3});
  for (int step = 0; step < 4; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      const Nanoseconds end = begin + (300 + (rank == 1 ? 100 : 0)) * us;
      job.rank(rank).step(step, begin, begin + 900 * us);
      job.rank(rank).compute(begin, end, "layer").launched(begin, begin + 1);
      job.rank(rank)
          .all_reduce(end, begin + 800 * us)
          .launched(begin + 2, begin + 3)
          .in_group(everyone)
          .sequence(step);
    }
  }
  job.missing(3);
  const Report report = report_of(job);
  ASSERT_EQ(report.blame.at(0).rank, 1);
  EXPECT_EQ(report.blame[0].blame_ns, 4 * 2 * 100 * us);
  EXPECT_TRUE(report.blame[0].partial);
  EXPECT_FALSE(report.blame[0].persistent.has_value());
  const Finding imbalance = finding(report, "imbalance");
  EXPECT_THAT(imbalance.title, HasSubstr("some left no record"));
  EXPECT_THAT(imbalance.remedy, HasSubstr("record all ranks"));
  const TransferTotals totals = transfer_totals(report);
  EXPECT_EQ(totals.all_ns, 4 * 3 * 400 * us);
  EXPECT_EQ(totals.doubtful_ns, totals.all_ns);
  const std::vector<std::string> codes = codes_of(report.findings);
  EXPECT_THAT(codes, Contains("exposed_communication"));
  EXPECT_THAT(codes, Not(Contains("exposed_transfer")));
}

// A program whose threads communicate by themselves issues nothing: an operation is then of the step that it
// runs in.
TEST(Steps, AnOperationWithoutALaunchIsOfTheStepItRunsIn) {
  JobBuilder job;
  for (int step = 0; step < 12; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds end = begin + (300 + 100 * rank) * us;
      job.rank(rank).step(step, begin, begin + 900 * us);
      job.rank(rank).compute(begin, end).launched(begin, begin);
      job.rank(rank).all_reduce(end, begin + 410 * us);
      job.rank(rank).compute(begin + 500 * us, begin + 600 * us).launched(begin + 500 * us, begin + 500 * us);
    }
  }
  const Report report = report_of(job);
  std::vector<std::int64_t> steps;
  for (const CollectiveReport& collective : report.collectives) steps.push_back(collective.step.value_or(-1));
  EXPECT_THAT(steps, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_EQ(report.blame.at(0).rank, 1);
  EXPECT_EQ(report.blame[0].persistent, true);
}

// What rank 2 did between its collectives is not known: it is still the one that the others wait for, but
// nobody can say why, and its own measures are in no sum.
TEST(Damage, NothingIsClaimedOfWhatWasLost) {
  JobBuilder job = straggling_job(12, 2, 100);
  job.rank(2).trace().lost.push_back({0, 10});
  const Report report = report_of(job);
  ASSERT_EQ(report.blame.at(0).rank, 2);
  EXPECT_EQ(report.blame[0].blame_ns, 12 * (102 + 101 + 99) * us);
  EXPECT_EQ(report.blame[0].root_cause, "");
  EXPECT_FALSE(report.ranks.at(2).measures.known);
  EXPECT_TRUE(report.ranks.at(1).measures.known);
  EXPECT_FALSE(report.efficiency.parallel.has_value());
  const Finding straggler = finding(report, "straggler_persistent");
  std::int64_t windows = 0;
  for (const std::size_t rank : {0, 1, 3}) windows += report.ranks[rank].measures.window_ns;
  EXPECT_DOUBLE_EQ(straggler.lost_share,
                   static_cast<double>(straggler.lost_ns) / static_cast<double>(windows));
  // Of the steps only those that the loss touches are unknown.
  std::vector<std::int64_t> unknown;
  for (const StepReport& step : report.steps) {
    if (!step.measures.known) unknown.push_back(step.step);
  }
  EXPECT_THAT(unknown, testing::ElementsAre(0));
}

// Nothing that draws causes shows one where activities were lost.
TEST(Damage, LeavesNoSegmentsWhereItIs) {
  JobBuilder builder = straggling_job(4, 2, 100);
  builder.rank(2).trace().lost.push_back({350 * us, 1200 * us});
  const Job job = builder.build();
  const Analysis analysis = checked_analysis(job);
  ASSERT_EQ(analysis.segments.size(), 4U);
  for (const CauseSegment& segment : analysis.segments[2])
    EXPECT_TRUE(segment.end < 350 * us || segment.begin > 1200 * us) << segment.begin;
  EXPECT_FALSE(analysis.segments[2].empty());
  const RankTimeline timeline = timeline_of(job, analysis, 2);
  EXPECT_FALSE(measures_of(timeline, 0, 400 * us).known);
  EXPECT_TRUE(measures_of(timeline, 2000 * us, 2400 * us).known);
}

TEST(Damage, ARankThatDidNothingHasNoFigures) {
  JobBuilder builder;
  builder.rank(0).step(0, 0, 100);
  const Report report = report_of(builder);
  EXPECT_FALSE(report.ranks.at(0).measures.known);
  EXPECT_FALSE(report.ranks[0].damaged);
  EXPECT_FALSE(report.steps.at(0).measures.known);
}

}  // namespace
}  // namespace lockstep::analyzer
