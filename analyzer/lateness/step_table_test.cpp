#include "analyzer/lateness/step_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "analyzer/lateness/test_reports.h"

namespace lockstep::analyzer {
namespace {

TEST(StepTable, LatenessIsWhatARankWaitsLessThanTheMedianOfTheOthers) {
  const Report report = report_of_steps({{100, 130, 110}, {120, 100, 100}});
  const StepTable table = make_step_table(report);
  ASSERT_EQ(table.steps, (std::vector<std::int64_t>{100, 101}));
  // Waits 30, 0, 20: of the others of rank 0 the lower median is 0, of rank 1 20, of rank 2 0.
  EXPECT_EQ(table.late_ns, (std::vector<std::int64_t>{-30, 20, -20, 20, -20, -20}));
  EXPECT_EQ(table.mean_step_ns, (180 + 170) / 2);
}

TEST(StepTable, ItsMediansAreThoseOfLookingAtAllTheOthers) {
  std::mt19937 random(3);
  for (std::size_t ranks = 2; ranks < 9; ++ranks) {
    std::vector<std::int64_t> own(ranks);
    for (std::int64_t& ns : own) ns = 100 + static_cast<std::int64_t>(random() % 6);
    const Report report = report_of_steps({own});
    const StepTable table = make_step_table(report);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::vector<std::int64_t> others;
      for (std::size_t other = 0; other < ranks; ++other)
        if (other != rank) others.push_back(table.cell(0, other).measures.partition[Cause::barrier_wait]);
      std::sort(others.begin(), others.end());
      EXPECT_EQ(table.late(0, rank), others[(others.size() - 1) / 2] -
                                         table.cell(0, rank).measures.partition[Cause::barrier_wait]);
    }
  }
}

TEST(StepTable, WhatARankWaitsLessItDoesMoreOfSomethingElse) {
  const Report report = report_of_steps({{100, 130}, {140, 100}});
  const StepTable table = make_step_table(report);
  for (std::size_t step = 0; step < 2; ++step) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const auto excess = excess_by_cause(table, step, rank);
      EXPECT_EQ(excess[static_cast<std::size_t>(Cause::compute)], table.late(step, rank));
      EXPECT_EQ(excess[static_cast<std::size_t>(Cause::barrier_wait)], -table.late(step, rank));
      EXPECT_EQ(excess[static_cast<std::size_t>(Cause::transfer)], 0);
    }
  }
}

// One rank's step is long, because it compiles, and the others wait in a step of theirs that is as long:
// whatever the windows are, ranks wait for no longer than they last.
TEST(StepTable, AStepIsAsLongAsTheMeanRankHasIt) {
  Report report = report_of_steps({{100, 900}, {100, 110}});
  report.steps[1].measures.window_ns = 50;
  const StepTable table = make_step_table(report);
  EXPECT_EQ(table.mean_step_ns, (950 + 50 + 160 + 160) / 4);
  std::int64_t waited = 0;
  for (const StepReport* cell : table.cells) waited += cell->measures.partition[Cause::barrier_wait];
  EXPECT_LE(waited, table.mean_step_ns * static_cast<std::int64_t>(table.cells.size()));
}

TEST(StepTable, SomeOfItsStepsAreATable) {
  const Report report = report_of_steps({{100, 130, 110}, {120, 100, 100}, {100, 100, 190}});
  const StepTable table = make_step_table(report);
  const std::vector<std::size_t> chosen{0, 2};
  const StepTable some = some_steps(table, chosen);
  EXPECT_EQ(some.steps, (std::vector<std::int64_t>{100, 102}));
  EXPECT_EQ(some.ranks, table.ranks);
  EXPECT_EQ(some.mean_step_ns, (180 + 240) / 2);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(some.late(1, rank), table.late(2, rank));
    EXPECT_EQ(&some.cell(1, rank), &table.cell(2, rank));
  }
  EXPECT_EQ(steps_from(table, 1).steps, (std::vector<std::int64_t>{101, 102}));
  EXPECT_TRUE(steps_from(table, 3).steps.empty());
  // Own time beyond the lower median of the others'.
  EXPECT_EQ(own_excess(some), (std::vector<std::int64_t>{-10, 30, 10, 0, 0, 90}));
}

TEST(StepTable, LeavesOutWhatIsNotKnown) {
  std::vector<std::vector<std::int64_t>> own(20, {100, 110, 120});
  Report report = report_of_steps(own);
  report.steps[5 * 3 + 1].measures.known = false;                                      // one step of rank 1
  for (std::size_t i = 0; i < 8; ++i) report.steps[i * 3 + 2].measures.known = false;  // most of rank 2's
  const StepTable table = make_step_table(report);
  EXPECT_EQ(table.ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(table.steps.size(), 19u);
  EXPECT_TRUE(make_step_table(Report{}).steps.empty());
}

}  // namespace
}  // namespace lockstep::analyzer
