// The checker of what always holds: it finds each thing that does not.
#include "analyzer/report_invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// Two ranks, twelve steps of 1 ms; rank 0 computes longer, and saves a checkpoint in step 5.
Report sound_report() {
  constexpr Nanoseconds us = 1000;
  JobBuilder job;
  for (int step = 0; step < 12; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (const std::int32_t rank : {0, 1}) {
      const Nanoseconds own = rank == 0 ? 600 * us : 300 * us;
      job.rank(rank).step(step, begin, begin + 1000 * us);
      job.rank(rank).compute(begin, begin + own).launched(begin, begin + 1);
      job.rank(rank).all_reduce(begin + own, begin + 700 * us).launched(begin + 1, begin + 2);
    }
    if (step == 5) job.rank(0).host_range(begin + 700 * us, begin + 1000 * us, "torch.save");
  }
  AnalysisOptions options;
  options.steady = true;
  Result<Analysis> analysis = analyze(job.build(), options);
  if (!analysis.ok()) ADD_FAILURE() << analysis.error().message;
  return analysis.ok() ? std::move(analysis).value().report : Report{};
}

TEST(ReportInvariants, HoldInASoundReport) {
  const Report report = sound_report();
  ASSERT_TRUE(report.steady && !report.steady->left_out.empty());
  ASSERT_FALSE(report.findings.empty());
  ASSERT_TRUE(report.account.goodput.has_value());
  EXPECT_THAT(broken_invariants(report), IsEmpty());
}

TEST(ReportInvariants, WhatDoesNotHoldIsSaid) {
  const std::vector<std::pair<std::function<void(Report&)>, std::string>> broken{
      {[](Report& report) { ++report.ranks[0].measures.partition[Cause::copy]; }, "rank 0: sum of causes"},
      {[](Report& report) { ++report.steady->ranks[1].measures.partition[Cause::copy]; },
       "steady training of rank 1: sum of causes"},
      {[](Report& report) { ++report.steady->ranks[1].measures.window_ns; },
       "steady training of rank 1: window"},
      {[](Report& report) {
         Partition& causes = report.steady->ranks[1].measures.partition;
         --causes[Cause::barrier_wait];
         ++causes[Cause::other];
       },
       "steady training of rank 1: barrier_wait"},
      {[](Report& report) { report.steady->steps.clear(); }, "steady: no steps"},
      {[](Report& report) { report.steady->steps.push_back(99); }, "steady: a step that is not there"},
      {[](Report& report) { report.steady->left_out[0].last = 99; }, "left out, and steady"},
      {[](Report& report) { ++report.account.ranks[1].spent[Spending::other]; },
       "account of rank 1: all that it spent"},
      {[](Report& report) { ++report.account.spent[Spending::steady]; }, "account: steady"},
      {[](Report& report) { report.account.ranks[0].checkpoint_beside_ns = -1; }, "checkpoints beside"},
      {[](Report& report) { report.ranks[0].end_ns += 20'000'000; }, "account of rank 0: its window"},
      {[](Report& report) {
         Account& spent = report.account.ranks[0].spent;
         spent[Spending::steady] += 2 * spent[Spending::checkpoint];
         spent[Spending::checkpoint] = -spent[Spending::checkpoint];
       },
       "account of rank 0: warm-up and steady"},
      {[](Report& report) { report.account.goodput = *report.account.goodput / 2; },
       "goodput is not steady of"},
      {[](Report& report) { report.account.goodput = 1.5; }, "goodput is no share"},
      {[](Report& report) { report.findings[0].lost_share = 1.5; }, ": share 1.5"},
      {[](Report& report) {
         ++report.findings[0].lost_ns;
         report.findings[0].lost_share /= 2;
       },
       "its share is another than loss"},
      {[](Report& report) { report.findings[0].lost_ns = 24'000'000; },
       "is not within what it is a share of"},
  };
  for (const auto& [change, said] : broken) {
    Report report = sound_report();
    change(report);
    EXPECT_THAT(broken_invariants(report), Contains(HasSubstr(said)));
  }
}

}  // namespace
}  // namespace lockstep::analyzer
