#include "analyzer/lateness/core_waits.h"

#include <gtest/gtest.h>

#include "analyzer/lateness/test_reports.h"

namespace lockstep::analyzer {
namespace {

// Two steps; rank 1 waits for a core for 40 and 60 of them, rank 0 for 10 of each.
Report report_with_run_queues() {
  Report report = report_of_steps({{100, 130}, {120, 150}});
  report.steps[0].measures.run_queue_ns = report.steps[2].measures.run_queue_ns = 10;
  report.steps[1].measures.run_queue_ns = 40;
  report.steps[3].measures.run_queue_ns = 60;
  return report;
}

RankLateness late_rank(Cause cause) {
  RankLateness late;
  late.rank = 1;
  late.mean_ns = 20;
  late.cause = cause;
  return late;
}

TEST(CoreWaits, AreThoseBeyondTheOthers) {
  Report report = report_with_run_queues();
  const StepTable table = make_step_table(report);
  EXPECT_EQ(run_queue_excess(table, 1), 40);
  EXPECT_EQ(run_queue_excess(table, 0), -40);
  EXPECT_EQ(core_wait_excess(table, late_rank(Cause::host_bound)), 40);
}

// Who has twice as much to run on cores that are as busy waits for them twice as long.
TEST(CoreWaits, ThatComeOfMoreToRunMakeNobodyLate) {
  Report report = report_with_run_queues();
  report.steps[0].measures.on_core_ns = report.steps[2].measures.on_core_ns = 30;
  report.steps[1].measures.on_core_ns = 120;
  report.steps[3].measures.on_core_ns = 90;
  // 3.5 times as much: of 50 a step 35 are owed to it, of which the others have 10 anyhow.
  EXPECT_EQ(core_wait_excess(make_step_table(report), late_rank(Cause::compute)), 15);
  EXPECT_EQ(run_queue_excess(make_step_table(report), 1), 40);
  report.steps[1].measures.on_core_ns = 210;  // 5 times
  EXPECT_EQ(core_wait_excess(make_step_table(report), late_rank(Cause::compute)), 0);
  for (StepReport& step : report.steps) step.measures.on_core_ns = 30;
  EXPECT_EQ(core_wait_excess(make_step_table(report), late_rank(Cause::compute)), 40);
}

TEST(CoreWaits, AreNotKnownWhereNobodyLooked) {
  Report report = report_with_run_queues();
  report.steps[2].measures.run_queue_ns.reset();
  const StepTable table = make_step_table(report);
  EXPECT_EQ(run_queue_excess(table, 1), std::nullopt);
  EXPECT_EQ(core_wait_excess(table, late_rank(Cause::host_bound)), std::nullopt);
}

TEST(CoreWaits, OfAStageThatIdledCountInItsIdlingAlone) {
  Report report = report_with_run_queues();
  StepTable table = make_step_table(report);
  table.idle_cells = {{2, 0, 0, 1}, {22, 0, 0, 7}, {4, 0, 0, 3}, {24, 0, 0, 9}};  // [step · ranks + rank]
  EXPECT_EQ(core_wait_excess(table, late_rank(Cause::host_bound)), 6);
  EXPECT_EQ(core_wait_excess(table, late_rank(Cause::compute)), 40);
  for (StepTable::Idle& cell : table.idle_cells) cell.ns /= 3;  // less than half of its lateness
  EXPECT_EQ(core_wait_excess(table, late_rank(Cause::host_bound)), 40);
}

}  // namespace
}  // namespace lockstep::analyzer
