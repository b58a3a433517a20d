// Findings, lateness and blame say one thing of who is late. That of all reports of this folder's tests:
// report_invariants.cpp.
#include "analyzer/diagnose/accusation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "analyzer/diagnose/shared_host_jobs.h"
#include "analyzer/diagnose/test_reports.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

RankLateness lateness(const Report& report, std::int32_t rank) {
  for (const RankLateness& late : report.lateness.ranks)
    if (late.rank == rank) return late;
  ADD_FAILURE() << "nothing of rank " << rank;
  return {};
}

std::optional<bool> persistent(const Report& report, std::int32_t rank) {
  for (const BlameReport& blame : report.blame)
    if (blame.rank == rank) return blame.persistent;
  ADD_FAILURE() << "nobody waits for rank " << rank;
  return {};
}

void expect_accused(const Report& report, std::int32_t rank, const std::string& code) {
  EXPECT_EQ(finding(report, code).rank, rank);
  const RankLateness late = lateness(report, rank);
  EXPECT_TRUE(late.is_late) << code;
  EXPECT_EQ(late.accused_by, code);
  EXPECT_FALSE(late.not_accused_because.has_value()) << code;
  EXPECT_EQ(persistent(report, rank), true) << code;
  for (const RankLateness& other : report.lateness.ranks) {
    if (other.rank == rank) continue;
    EXPECT_FALSE(other.is_late) << code;
    EXPECT_EQ(other.accused_by, "") << code;
  }
}

void expect_not_accused(const Report& report, std::int32_t rank, NotAccused reason) {
  const RankLateness late = lateness(report, rank);
  EXPECT_EQ(late.accused_by, "");
  EXPECT_EQ(late.not_accused_because, reason);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

// Of rank 2, in each step.
Report late_by(int steps, const std::function<Nanoseconds(int)>& extra_us) {
  JobBuilder job;
  for (int step = 0; step < steps; ++step) {
    const Nanoseconds begin = step * 2000 * us, extra = extra_us(step) * us;
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      const Nanoseconds end = begin + (1000 + (step * 7 + rank * 5) % 9) * us + (rank == 2 ? extra : 0);
      job.rank(rank).step(step, begin, begin + 1990 * us);
      job.rank(rank).compute(begin, end, "layer").launched(begin, begin + 1);
      job.rank(rank).all_reduce(end, begin + 1060 * us + extra).launched(begin + 2, begin + 3);
    }
  }
  return report_of(job);
}

TEST(Accusation, OneThatIsLateThroughoutSaysSoEverywhere) {
  expect_accused(late_by(20, [](int) { return 200; }), 2, "straggler_persistent");
}

TEST(Accusation, SoDoesOneThatIsLateFromSomeStepOn) {
  expect_accused(late_by(40, [](int step) { return step >= 28 ? 300 : 0; }), 2, "straggler_since");
}

TEST(Accusation, SoDoesOneThatIsLateOnceInSoManySteps) {
  expect_accused(late_by(60, [](int step) { return step % 10 == 4 ? 600 : 0; }), 2, "straggler_periodic");
}

// Noise hides how late it is; what it does longer shows.
TEST(Accusation, SoDoesOneThatDoesOneThingLonger) {
  const Report report = report_of(SharedHost{.idle = 1000, .moves = 6000});
  expect_accused(report, 1, "straggler_persistent");
  EXPECT_GT(lateness(report, 1).movement_ns, 0);
  EXPECT_EQ(lateness(report, 1).cause, Cause::host_bound) << "as the finding says";
  EXPECT_THAT(finding(report, "straggler_persistent").title,
              HasSubstr(format_duration(lateness(report, 1).cause_ns) + " longer"));
  expect_accused(report_of(SharedHost{.waits_1 = 2500, .more_1 = 3000}), 1, "straggler_persistent");
}

// It comes last again and again, and nobody can tell whether it would with cores of its own.
TEST(Accusation, WhereCoresAreShortTheReportSaysWhyALateRankIsNotAccused) {
  const Report report = report_of(SharedHost{.waits_1 = 6000});
  EXPECT_TRUE(lateness(report, 1).is_late);
  expect_not_accused(report, 1, NotAccused::cores_shared);
  EXPECT_FALSE(persistent(report, 1).has_value());
}

// Seen of healthy jobs beside other programs, while their threads had a core: 5.3 % (Hugging Face's Trainer),
// 14 to 43 % (Lightning), each time another rank.
TEST(Accusation, MoreComputationBesideOtherProgramsIsNoFaultByItself) {
  const auto longer_by = [](Nanoseconds us_longer, Nanoseconds waits) {
    return report_of(SharedHost{.waits_0 = waits, .waits_1 = waits, .more_1 = us_longer, .moves = 20});
  };
  expect_accused(longer_by(150, 0), 1, "straggler_persistent");  // of 2 ms
  const Report beside_others = longer_by(150, 60);
  expect_not_accused(beside_others, 1, NotAccused::cores_unknown);
  EXPECT_THAT(to_text(beside_others, {}), HasSubstr("Which rank is slow can't be told"));
  const Finding waiting = finding(longer_by(900, 60), "imbalance");
  EXPECT_EQ(waiting.title, "ranks wait for each other, and whether it is one rank's fault can't be told");
  EXPECT_FALSE(waiting.rank.has_value());
  EXPECT_THAT(waiting.remedy, HasSubstr("`lockstep record --operators` where it takes longer"));
  // Who recorded them is not told to.
  Job with_operators = job_of(SharedHost{.waits_0 = 60, .waits_1 = 60, .more_1 = 900, .moves = 20});
  with_operators.ranks[0].host_ranges.push_back(
      {0, 1, with_operators.strings.intern("aten::mm"), 0, 0, HostKind::operation});
  const Report known = report_of(with_operators);
  EXPECT_THAT(finding(known, "imbalance").remedy, Not(HasSubstr("--operators")));
  EXPECT_THAT(to_text(known, {}), Not(HasSubstr("--operators")));
  expect_not_accused(longer_by(900, 60), 1, NotAccused::cores_unknown);
  // What it waits for a core within that is none of its work: seen of Lightning in steps 10 to 25, 120 %
  // longer.
  const Report waits = report_of(SharedHost{.waits_0 = 60, .waits_1 = 460, .more_1 = 1800, .moves = 20});
  expect_not_accused(waits, 1, NotAccused::cores_unknown);
  const Report lacks = report_of(SharedHost{.waits_0 = 60, .waits_1 = 1860, .more_1 = 400, .moves = 20});
  const auto late = std::ranges::find(lacks.blame, 1, &BlameReport::rank);
  ASSERT_NE(late, lacks.blame.end());
  EXPECT_THAT(late->root_cause, HasSubstr("while its threads waited for a core for 1.80 ms"));
  expect_accused(longer_by(2200, 60), 1, "straggler_persistent");  // twice as long
}

// Rank 1 computes longer, and all looks at its Python stack see it in one line. Of the other rank's in a step
// so many do, of five.
Report seen_in_one_line(std::int64_t more_1, int looks_of_0) {
  Job job = job_of(SharedHost{.waits_0 = 60, .waits_1 = 60, .more_1 = more_1, .moves = 20});
  const std::uint32_t line = job.strings.intern("training_step (li.py:13)");
  const std::uint32_t elsewhere = job.strings.intern("optimizer_step (li.py:20)");
  for (RankTrace& rank : job.ranks) {
    for (const StepMark& step : rank.steps)
      for (int look = 0; look < 5; ++look) {
        const Nanoseconds begin = step.begin + look * 400 * us;
        const bool is_there = rank.rank == 1 || look < looks_of_0;
        rank.host_ranges.push_back(
            {begin, begin + 390 * us, is_there ? line : elsewhere, 0, 0, HostKind::python_place});
      }
    rank.lanes.push_back({trace::LaneKind::host_thread, 1, "python"});
  }
  return report_of(job);
}

// A line that all ranks run takes a slow process longer as well: seen of `training_step`, which both ranks of
// a healthy job were in. One that the others hardly are in is the rank's own.
TEST(Accusation, ALineThatTheOthersAreInAsWellIsNoEvidence) {
  expect_accused(seen_in_one_line(900, 0), 1, "straggler_persistent");
  expect_not_accused(seen_in_one_line(900, 3), 1, NotAccused::cores_unknown);
}

// It is no part of the work that all have to do: without it the rank would be as early as the others, and
// take less time as well.
TEST(Accusation, WhatARankComputesInALineOfItsOwnIsLostToo) {
  const Report of_all = seen_in_one_line(2200, 5), of_one = seen_in_one_line(2200, 0);
  const Finding shared = finding(of_all, "straggler_persistent"),
                own = finding(of_one, "straggler_persistent");
  EXPECT_EQ(shared.own_ns, 0);
  EXPECT_EQ(own.own_ns, 5 * 390 * us * of_one.lateness.steps);  // for as long as it was seen there
  EXPECT_EQ(own.lost_ns, shared.lost_ns + own.own_ns);
  EXPECT_THAT(own.evidence, Contains(HasSubstr("of its own time, which it would save as well")));
}

// Seen of a healthy job on busy cores that was recorded without the source `scheduling`: one of its two ranks
// "computed 10.9 % longer".
TEST(Accusation, WhereNothingTellsOfCoresComputingLongerIsNoFault) {
  const auto without_scheduling = [](const SharedHost& host, const char* host_of_1) {
    Job job = job_of(host);
    for (RankTrace& rank : job.ranks) {
      rank.scheduling.clear();
      rank.core_set.clear();
      rank.off_cpu_known = false;
    }
    job.ranks[1].host = host_of_1;
    return report_of(job);
  };
  const SharedHost computes_longer{.waits_0 = 0, .waits_1 = 0, .more_1 = 1000};
  expect_accused(report_of(computes_longer), 1, "straggler_persistent");
  const Report report = without_scheduling(computes_longer, "node0");
  expect_not_accused(report, 1, NotAccused::cores_unknown);
  EXPECT_FALSE(persistent(report, 1).has_value());
  expect_accused(without_scheduling(computes_longer, "node1"), 1, "straggler_persistent");
  // Other programs come and go: what they do shows from step to step.
  expect_accused(without_scheduling({.waits_0 = 0, .waits_1 = 0, .more_1 = 1000, .moves = 0}, "node0"), 1,
                 "straggler_persistent");
  // No want of cores makes it idle so much longer than the others, who hardly do.
  expect_accused(without_scheduling({.waits_0 = 0, .waits_1 = 0, .idle = 1000}, "node0"), 1,
                 "straggler_persistent");
}

TEST(Accusation, OneWhoseLatenessCostsLittleIsLateAllTheSame) {
  JobBuilder job = straggling_job(12, 2, 100);
  for (std::int32_t rank : {0, 1, 3}) job.rank(rank).compute(0, 12'000 * us, "other stream").launched(-2, -1);
  const Report report = report_of(job);
  for (const RankLateness& late : report.lateness.ranks) {
    EXPECT_EQ(late.accused_by, "");
    EXPECT_EQ(late.is_late, late.not_accused_because == NotAccused::little_lost);
  }
}

TEST(Accusation, NobodyIsOpenWhereNobodyIsLate) {
  const Report report = late_by(20, [](int) { return 0; });
  for (const RankLateness& late : report.lateness.ranks) {
    EXPECT_FALSE(late.is_late);
    EXPECT_FALSE(late.not_accused_because.has_value());
  }
  for (const BlameReport& blame : report.blame) EXPECT_EQ(blame.persistent, false);
}

}  // namespace
}  // namespace lockstep::analyzer
