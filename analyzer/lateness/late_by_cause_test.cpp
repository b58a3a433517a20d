#include "analyzer/lateness/late_by_cause.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyzer/lateness/test_reports.h"

namespace lockstep::analyzer {
namespace {

// Two or more ranks whose compute moves by half of a step, in runs of bad and good steps; rank 1 spends
// `more_ns` more on `cause` in each step.
struct Noisy {
  std::size_t ranks = 2, steps = 60;
  Cause cause = Cause::host_bound;
  std::int64_t more_ns = 0;
  double noise = 0.5;
  std::int64_t less_compute_ns = 0;  // of rank 1
};
Report simulate(const Noisy& job, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> state(job.ranks);
  std::vector<std::vector<std::int64_t>> own, other;
  for (std::size_t step = 0; step < job.steps; ++step) {
    own.emplace_back();
    other.emplace_back();
    for (std::size_t rank = 0; rank < job.ranks; ++rank) {
      state[rank] = 0.8 * state[rank] + 0.6 * normal(random);
      const std::int64_t extra = std::llround(1e4 * std::abs(normal(random))) + (rank == 1 ? job.more_ns : 0);
      const double compute = 1e6 * std::max(0.2, 1 + job.noise * state[rank]);
      other.back().push_back(extra);
      own.back().push_back(extra + std::llround(compute) - (rank == 1 ? job.less_compute_ns : 0));
    }
  }
  Report report = report_of_steps(own, 100'000);
  for (StepReport& cell : report.steps) {
    const std::int64_t extra =
        other[static_cast<std::size_t>(cell.step - 100)][static_cast<std::size_t>(cell.rank)];
    cell.measures.partition[Cause::compute] -= extra;
    cell.measures.compute_ns -= extra;
    cell.measures.partition[job.cause] += extra;
  }
  return report;
}

std::vector<RankLateness> found_in(const Report& report) {
  const StepTable table = make_step_table(report);
  const LatenessReport judged = judge_lateness(table, report);
  LateByCause by_cause(table);
  std::vector<RankLateness> found;
  for (std::size_t rank = 0; rank < judged.ranks.size(); ++rank)
    if (const auto late = by_cause.find(rank, judged.ranks[rank])) found.push_back(*late);
  return found;
}

TEST(LateByCause, AFixedTimeInEveryStepStandsOutOfNoiseThatHidesTheLateness) {
  int hidden = 0, found_hidden = 0;
  for (const Cause cause : {Cause::host_bound, Cause::data_wait, Cause::copy}) {
    for (unsigned seed = 0; seed < 100; ++seed) {
      const Report report = simulate({.cause = cause, .more_ns = 300'000}, seed);
      if (judge_lateness(make_step_table(report), report).ranks[1].is_late) continue;
      ++hidden;
      const std::vector<RankLateness> found = found_in(report);
      if (found.empty()) continue;  // it was not late at all, by chance
      ++found_hidden;
      ASSERT_EQ(found.size(), 1U) << seed;
      EXPECT_EQ(found[0].rank, 1);
      EXPECT_EQ(found[0].cause, cause);
      EXPECT_NEAR(static_cast<double>(found[0].cause_ns), 300'000, 10'000);
      EXPECT_NEAR(static_cast<double>(found[0].others_ns), 7'000, 4'000);
      EXPECT_EQ(found[0].mean_ns, found[0].cause_ns);
      EXPECT_TRUE(found[0].is_late);
    }
  }
  EXPECT_GE(hidden, 150);
  EXPECT_GE(found_hidden * 4, hidden * 3) << found_hidden << " of " << hidden;
}

TEST(LateByCause, HealthyRanksAreNot) {
  for (const std::size_t ranks : {2u, 8u})
    for (unsigned seed = 0; seed < 50; ++seed)
      EXPECT_TRUE(found_in(simulate({.ranks = ranks}, seed)).empty());
}

TEST(LateByCause, LittleOfAStepIsNot) {
  EXPECT_TRUE(found_in(simulate({.more_ns = 60'000, .noise = 0.1}, 1)).empty());
}

// What a rank does longer in place of something else keeps nobody waiting.
TEST(LateByCause, TimeThatMakesNobodyLateIsNot) {
  EXPECT_TRUE(found_in(simulate({.more_ns = 300'000, .noise = 0.02, .less_compute_ns = 300'000}, 1)).empty());
  EXPECT_EQ(found_in(simulate({.more_ns = 300'000, .noise = 0.02}, 1)).size(), 1U);
}

// Rank 1 computes `more_ns` longer in each step; of that its threads run `run_ns`, the others a million.
std::vector<std::int32_t> found_running(std::int64_t more_ns, std::int64_t run_ns, unsigned seed) {
  Report report = simulate({.less_compute_ns = -more_ns}, seed);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (StepReport& cell : report.steps)
    cell.measures.on_core_ns = 1'000'000 + std::llround(2e4 * normal(random)) + (cell.rank == 1 ? run_ns : 0);
  const StepTable table = make_step_table(report);
  const LatenessReport judged = judge_lateness(table, report);
  LateByCause by_cause(table);
  std::vector<std::int32_t> found;
  for (std::size_t rank = 0; rank < judged.ranks.size(); ++rank)
    if (const auto late = by_cause.find_running(rank, judged.ranks[rank])) {
      EXPECT_EQ(late->cause, Cause::compute);
      EXPECT_TRUE(late->is_of_running);
      // No more than it is longer in computation, which moves about.
      EXPECT_LE(late->cause_ns, run_ns + 10'000);
      EXPECT_GE(2 * late->cause_ns, run_ns);
      found.push_back(late->rank);
    }
  return found;
}

TEST(LateByCause, WhatItsThreadsRunLongerStandsOutOfLoadedCores) {
  int named = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<std::int32_t> found = found_running(500'000, 500'000, seed);
    EXPECT_TRUE(found.empty() || found == std::vector<std::int32_t>{1}) << seed;
    named += found.empty() ? 0 : 1;
    EXPECT_TRUE(found_running(0, 0, seed).empty()) << "healthy, " << seed;
    EXPECT_TRUE(found_running(0, 100'000, seed).empty()) << "less than a quarter, " << seed;
  }
  EXPECT_GE(named, 40);
}

// It runs a loop between its computations.
TEST(LateByCause, WhatIsRunOutsideOfComputationIsTheHosts) {
  int named = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Report report = simulate({.cause = Cause::host_bound, .more_ns = 400'000}, seed);
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (StepReport& cell : report.steps)
      cell.measures.on_core_ns =
          1'000'000 + (cell.rank == 1 ? 400'000 : 0) + std::llround(2e4 * normal(random));
    const StepTable table = make_step_table(report);
    LateByCause by_cause(table);
    const auto late = by_cause.find_running(1, judge_lateness(table, report).ranks[1]);
    if (!late) continue;
    ++named;
    EXPECT_EQ(late->cause, Cause::host_bound) << seed;
    EXPECT_NEAR(static_cast<double>(late->cause_ns), 400'000, 10'000);
    EXPECT_LT(late->others_ns, 20'000);
  }
  EXPECT_GE(named, 10);
}

TEST(LateByCause, WhatThreadsRunIsNotJudgedWhereNobodyLooked) {
  const Report report = simulate({.less_compute_ns = -500'000}, 1);
  const StepTable table = make_step_table(report);
  EXPECT_FALSE(LateByCause(table).find_running(1, judge_lateness(table, report).ranks[1]).has_value());
}

TEST(LateByCause, FewStepsAndOneRankSayNothing) {
  EXPECT_TRUE(found_in(simulate({.steps = 9, .more_ns = 300'000}, 1)).empty());
  EXPECT_TRUE(found_in(simulate({.ranks = 1, .more_ns = 300'000}, 1)).empty());
  const StepTable empty;
  EXPECT_FALSE(LateByCause(empty).find(0, {}).has_value());
}

}  // namespace
}  // namespace lockstep::analyzer
