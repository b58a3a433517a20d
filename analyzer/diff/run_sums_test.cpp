#include "analyzer/diff/run_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diff/sample_sums.h"

namespace lockstep::analyzer {
namespace {

using test::kMs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RunSums, AreOfSteadySteps) {
  Report report = test::report_of("run", 2, 25, [](std::int32_t rank, std::int64_t step) {
    Partition parts;
    parts[Cause::compute] = step < 4 ? 1000 * kMs : (10 + rank) * kMs;
    return parts;
  });
  report.steady = SteadyReport{.steps = {}, .left_out = {}, .ranks = {}};
  for (std::int64_t step = 4; step < 25; ++step) report.steady->steps.push_back(step);
  const RunSums run = run_sums(report).value();
  EXPECT_EQ(run.steps, 21);
  EXPECT_EQ(run.rank_steps, 42);
  ASSERT_EQ(run.ranks.size(), 2U);
  EXPECT_EQ(run.ranks[1].steps, 21);
  EXPECT_EQ(run.ranks[1].parts[Cause::compute], 21 * 11 * kMs);
  EXPECT_EQ(run.ranks[1].compute_ns, 21 * 11 * kMs);
  // Ten blocks of as many steps as can be; together they are all of it.
  EXPECT_THAT(run.blocks, ElementsAre(3, 2, 2, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_EQ(run.ranks[0].blocks[0][Cause::compute], 30 * kMs);
  std::int64_t sum = 0;
  for (const Partition& block : run.ranks[0].blocks) sum += block.total();
  EXPECT_EQ(sum, run.ranks[0].parts.total());
}

TEST(RunSums, LeaveOutRanksWhoseTimeIsNotKnown) {
  Report report = test::report_of("run", 3, 8, test::training());
  report.steps[4].measures.known = false;  // rank 1 in step 1
  RankReport silent;
  silent.rank = 3;
  report.ranks.push_back(silent);
  const RunSums run = run_sums(report).value();
  ASSERT_EQ(run.ranks.size(), 2U);
  EXPECT_EQ(run.ranks[1].rank, 2);
  EXPECT_EQ(run.ranks[1].host, "b");
  EXPECT_THAT(run.unknown, ElementsAre(1, 3));
}

TEST(RunSums, OfCollectivesLayersAndPhases) {
  Report report = test::report_of("run", 2, 8, test::training());
  for (const std::int64_t position : {0, 1}) {
    BucketReport bucket;
    bucket.group_name = "dp";
    bucket.operation = Operation::all_reduce;
    bucket.position = position;
    bucket.count = 8;
    bucket.bytes = 1000;
    bucket.exposed_transfer_ns = 16 * kMs;
    if (position == 0) bucket.exposed_wait_ns = 4 * kMs;
    report.buckets.push_back(bucket);
  }
  LayerReport layer;
  layer.layer = 3;
  layer.forward = LayerPass{.total_ns = 5 * kMs};
  layer.recompute = LayerPass{.total_ns = 7 * kMs};
  report.layers.push_back(layer);
  report.account.ranks.resize(2);
  report.account.spent[Spending::checkpoint] = 9 * kMs;
  Finding hang;
  hang.alarm = Alarm::hang;
  hang.title = "the job hung";
  report.findings.push_back(hang);
  const RunSums run = run_sums(report).value();
  ASSERT_EQ(run.collectives.size(), 2U);
  EXPECT_EQ(run.collectives.begin()->second.wait_ns, 4 * kMs);
  EXPECT_EQ(run.collectives.rbegin()->second.transfer_ns, 16 * kMs);
  EXPECT_EQ(run.layers.at({3, "", 0}), 5 * kMs);
  EXPECT_EQ(run.layers.at({3, "", 2}), 7 * kMs);
  EXPECT_EQ(run.layers.size(), 2U);
  EXPECT_EQ(run.account_ranks, 2);
  EXPECT_EQ(run.phases[Spending::checkpoint], 9 * kMs);
  EXPECT_EQ(run.failure, "the job hung");
}

TEST(RunSums, NeedStepsAndKnownRanks) {
  const Report empty = test::report_of("here", 2, 0, test::training());
  EXPECT_THAT(run_sums(empty).error().message, HasSubstr("here marks no steps"));
  Report unknown = test::report_of("here", 1, 3, test::training());
  for (StepReport& step : unknown.steps) step.measures.known = false;
  EXPECT_THAT(run_sums(unknown).error().message, HasSubstr("of no rank is it known"));
}

}  // namespace
}  // namespace lockstep::analyzer
