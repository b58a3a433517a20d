#include "analyzer/scaling/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analyzer/diff/sample_sums.h"

namespace lockstep::analyzer {
namespace {

using test::kMs;
using testing::HasSubstr;
using testing::IsEmpty;

ScaleRun run_of(std::int32_t ranks, std::int64_t compute_ms, std::int64_t transfer_ms,
                std::int64_t odd_ns = 0) {
  Report report =
      test::report_of(std::to_string(ranks) + " ranks", ranks, 12, [=](std::int32_t rank, std::int64_t step) {
        Partition parts;
        parts[Cause::compute] = compute_ms * kMs + (rank + step) % 3 + odd_ns;
        parts[Cause::transfer] = transfer_ms * kMs;
        return parts;
      });
  report.efficiency.load_balance = 0.9;
  report.efficiency.communication = 0.8;
  return scale_run({}, report).value();
}

void expect_exact(const Scaling& scaling) {
  for (const ScalePoint& point : scaling.points) {
    EXPECT_EQ(std::accumulate(point.causes_ns.begin(), point.causes_ns.end(), std::int64_t{0}),
              point.step_ns);
    EXPECT_EQ(std::accumulate(point.loss_ns.begin(), point.loss_ns.end(), std::int64_t{0}),
              point.total_loss_ns());
  }
}

TEST(Scaling, WeaklyTheIdealStepStays) {
  const Scaling scaling =
      scaling_of({run_of(4, 100, 25), run_of(1, 100, 0), run_of(2, 100, 11)}, std::nullopt).value();
  expect_exact(scaling);
  EXPECT_EQ(scaling.kind, ScalingKind::weak);
  EXPECT_TRUE(scaling.kind_is_guessed);
  ASSERT_EQ(scaling.points.size(), 3U);
  const ScalePoint &two = scaling.points[1], &four = scaling.points[2];
  EXPECT_EQ(scaling.points[0].ranks, 1);
  EXPECT_NEAR(scaling.points[0].efficiency.value, 1, 1e-9);
  EXPECT_FALSE(scaling.points[0].efficiency_distributed);
  EXPECT_NEAR(two.efficiency_distributed->value, 1, 1e-9);
  EXPECT_NEAR(four.efficiency.value, 0.8, 1e-6);
  EXPECT_NEAR(four.efficiency_distributed->value, 111.0 / 125, 1e-6);
  EXPECT_FALSE(four.efficiency.low) << "one run a size";
  EXPECT_EQ(four.loss_ns[static_cast<std::size_t>(Cause::transfer)], 25 * kMs);
  EXPECT_NEAR(four.computation_scaling.value(), 1, 1e-6);
  EXPECT_DOUBLE_EQ(four.load_balance.value(), 0.9);
  EXPECT_FALSE(scaling.law) << "three sizes";
}

TEST(Scaling, StronglyTheIdealStepShrinks) {
  const Scaling scaling = scaling_of({run_of(2, 100, 10, 1), run_of(8, 26, 12)}, std::nullopt).value();
  expect_exact(scaling);
  EXPECT_EQ(scaling.kind, ScalingKind::strong);
  EXPECT_NEAR(scaling.points[1].efficiency.value, 110.0 / 4 / 38, 1e-6);
  EXPECT_NEAR(scaling.points[1].computation_scaling.value(), 100.0 / 4 / 26, 1e-6);
  EXPECT_NEAR(static_cast<double>(scaling.points[1].ideal_ns), 27.5e6, 2);
  // What was asked for counts, not what it looks like.
  EXPECT_EQ(scaling_of({run_of(2, 100, 10), run_of(8, 26, 12)}, ScalingKind::weak).value().kind,
            ScalingKind::weak);
}

TEST(Scaling, IntervalsAreOfRuns) {
  const Scaling scaling = scaling_of({run_of(1, 100, 0), run_of(1, 101, 0), run_of(1, 99, 0),
                                      run_of(4, 100, 25), run_of(4, 101, 25), run_of(4, 99, 25)},
                                     ScalingKind::weak)
                              .value();
  expect_exact(scaling);
  const Estimate& efficiency = scaling.points[1].efficiency;
  EXPECT_NEAR(efficiency.value, 0.8, 1e-3);
  ASSERT_TRUE(efficiency.low && efficiency.high);
  EXPECT_LT(*efficiency.low, efficiency.value);
  EXPECT_GT(*efficiency.low, 0.75);
  EXPECT_GT(*efficiency.high, efficiency.value);
  EXPECT_LT(*efficiency.high, 0.85);
  EXPECT_EQ(scaling.points[1].paths.size(), 3U);
}

TEST(Scaling, FiveSizesHaveALaw) {
  std::vector<ScaleRun> runs;
  for (const std::int32_t ranks : {1, 2, 4, 8, 16}) runs.push_back(run_of(ranks, 100, ranks - 1));
  const Scaling scaling = scaling_of(runs, ScalingKind::weak).value();
  expect_exact(scaling);
  ASSERT_TRUE(scaling.law);
  EXPECT_NEAR(scaling.law->contention, 0.01, 1e-6);
  EXPECT_NEAR(scaling.law->coherency, 0, 1e-6);
}

TEST(Scaling, WaitingThatOneRunDoesNotKnowIsCommunicationInAll) {
  const auto waiting = [](const char* path, std::int32_t ranks, bool known) {
    Report report = test::report_of(path, ranks, 9, test::training());
    for (StepReport& step : report.steps) step.measures.waits_known = known;
    return scale_run({}, report).value();
  };
  const Scaling scaling = scaling_of({waiting("a", 2, false), waiting("b", 4, true)}, std::nullopt).value();
  expect_exact(scaling);
  EXPECT_FALSE(scaling.waits_known);
  EXPECT_EQ(scaling.points[1].causes_ns[static_cast<std::size_t>(Cause::barrier_wait)], 0);
}

TEST(Scaling, SaysInWhatElseRunsDiffer) {
  std::vector<ScaleRun> runs{run_of(1, 100, 0), run_of(2, 100, 10)};
  for (ScaleRun& run : runs) {
    const std::string ranks = std::to_string(run.sums.world_size);
    run.settings = {.command = {"torchrun", "--nproc-per-node", ranks, "train.py"},
                    .values = {{"ranks", ranks}}};
  }
  EXPECT_THAT(scaling_of(runs, std::nullopt).value().differences, IsEmpty());
  runs[1].settings.command.back() = "other.py";
  runs[1].settings.values["NCCL_ALGO"] = "Ring";
  EXPECT_THAT(scaling_of(runs, std::nullopt).value().differences,
              testing::ElementsAre("NCCL_ALGO", "command"));
}

TEST(Scaling, BadRunsSayWhatToDo) {
  EXPECT_THAT(scaling_of({run_of(2, 1, 1), run_of(2, 1, 1)}, std::nullopt).error().message,
              HasSubstr("all runs have 2 ranks: to see how a job scales give runs of two sizes or more"));
  ScaleRun one = run_of(2, 1, 1), same = run_of(2, 1, 1);
  one.sums.start_ns = same.sums.start_ns = 7;
  EXPECT_THAT(scaling_of({one, same, run_of(4, 1, 1)}, std::nullopt).error().message,
              HasSubstr("are the same run"));
  ScaleRun hung = run_of(4, 1, 1);
  hung.sums.failure = "the job hung";
  EXPECT_THAT(scaling_of({run_of(2, 1, 1), hung}, std::nullopt).error().message,
              HasSubstr("4 ranks: the job hung; run it again"));
}

TEST(ScaleRun, SaysThatRanksShareCores) {
  Report report = test::report_of("run", 3, 9, test::training());
  Job job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    RankTrace trace;
    trace.rank = rank;
    trace.host = "a";
    trace.device = "cpu";
    trace.cores = 2;
    trace.core_set = rank == 2 ? "2-3" : "0-1";
    job.ranks.push_back(std::move(trace));
  }
  EXPECT_EQ(scale_run(job, report).value().shared, "2 ranks share 2 cores of host a");
  for (RankTrace& rank : job.ranks) rank.device = "cuda:0";
  EXPECT_EQ(scale_run(job, report).value().shared, "");
}

TEST(ScaleRun, KeepsHowLongMessagesTake) {
  Report report = test::report_of("run", 2, 9, test::training());
  for (const std::int64_t transfer : {30, 10, 20}) {
    CollectiveReport collective;
    collective.operation = Operation::all_reduce;
    collective.bytes = 1000;
    collective.ranks.resize(2);
    for (CollectiveRank& rank : collective.ranks) rank.transfer_ns = transfer;
    report.collectives.push_back(collective);
  }
  report.collectives.back().partial = true;
  const ScaleRun run = scale_run({}, report).value();
  ASSERT_EQ(run.messages.size(), 1U);
  EXPECT_EQ(run.messages[0].count, 2);
  EXPECT_EQ(run.messages[0].ranks, 2);
  EXPECT_DOUBLE_EQ(run.messages[0].median_ns, 30);  // the upper of two
}

}  // namespace
}  // namespace lockstep::analyzer
