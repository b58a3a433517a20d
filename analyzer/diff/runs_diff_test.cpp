#include "analyzer/diff/runs_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analyzer/diff/sample_sums.h"

namespace lockstep::analyzer {
namespace {

using test::kMs;
using test::report_of;
using test::training;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunSums sums_of(const Report& report) {
  return run_sums(report).value();
}

RunsDiff diff_of(const Report& a, const Report& b) {
  return diff_runs({sums_of(a)}, {sums_of(b)}).value();
}

// That all parts sum to their wholes, to the nanosecond.
void expect_exact(const RunsDiff& diff) {
  const auto expect_sum = [](const auto& parts, auto time_of, const TimePair& rest, const TimePair& whole,
                             const char* what) {
    TimePair sum = rest;
    for (const auto& part : parts) {
      sum.a_ns += time_of(part).a_ns;
      sum.b_ns += time_of(part).b_ns;
    }
    EXPECT_EQ(sum.a_ns, whole.a_ns) << what;
    EXPECT_EQ(sum.b_ns, whole.b_ns) << what;
    EXPECT_EQ(sum.change_ns(), whole.change_ns()) << what;
  };
  const auto time = [](const auto& part) { return part.time; };
  expect_sum(diff.causes, time, {}, diff.step, "causes");
  if (!diff.ranks.empty())
    expect_sum(
        diff.ranks, [](const RankDiff& rank) { return rank.part; }, {}, diff.step, "ranks");
  for (const RankDiff& rank : diff.ranks)
    expect_sum(
        rank.causes, [](const TimePair& pair) { return pair; }, {}, rank.step, "causes of a rank");
  expect_sum(diff.collectives.parts, time, diff.collectives.rest, diff.collectives.whole, "collectives");
  expect_sum(diff.groups, time, diff.collectives.rest, diff.collectives.whole, "groups");
  expect_sum(diff.layers.parts, time, diff.layers.rest, diff.layers.whole, "layers");
  expect_sum(diff.phases.parts, time, diff.phases.rest, diff.phases.whole, "phases");
}

TEST(RunsDiff, NamesTheRankThatIsTheDifference) {
  const RunsDiff diff = diff_of(report_of("a", 4, 20, training()), report_of("b", 4, 20, training(2, 20)));
  expect_exact(diff);
  EXPECT_EQ(diff.step.change_ns(), 20 * kMs);
  EXPECT_THAT(diff.changed_ranks, ElementsAre(2));
  EXPECT_EQ(diff.their_cause, Cause::host_bound);
  // Averaged over ranks it looks like waiting.
  EXPECT_EQ(diff.causes[static_cast<std::size_t>(Cause::barrier_wait)].time.change_ns(), 15 * kMs);
  EXPECT_EQ(diff.ranks[2].own.change_ns(), 20 * kMs);
  EXPECT_EQ(diff.ranks[1].own.change_ns(), 0);
  EXPECT_EQ(diff.ranks[2].part.change_ns(), 5 * kMs);
  EXPECT_EQ(diff.spread.of, SpreadOf::steps);
}

TEST(RunsDiff, NamesTheRankThatGotFasterToo) {
  const RunsDiff diff =
      diff_of(report_of("a", 2, 20, training(0, 30, Cause::data_wait)), report_of("b", 2, 20, training()));
  expect_exact(diff);
  EXPECT_THAT(diff.changed_ranks, ElementsAre(0));
  EXPECT_EQ(diff.their_cause, Cause::data_wait);
}

TEST(RunsDiff, NamesNobodyWhereAllChanged) {
  const RunsDiff diff =
      diff_of(report_of("a", 4, 20, training()), report_of("b", 4, 20, [](auto rank, auto step) {
                Partition parts = training()(rank, step);
                parts[Cause::compute] += 20 * kMs;
                return parts;
              }));
  expect_exact(diff);
  EXPECT_THAT(diff.changed_ranks, IsEmpty());
  EXPECT_TRUE(diff.causes[static_cast<std::size_t>(Cause::compute)].spread.is_beyond_chance(9));
  EXPECT_FALSE(diff.causes[static_cast<std::size_t>(Cause::transfer)].spread.is_beyond_chance(9));
}

// The rank that changed does so by no more than its steps vary by.
TEST(RunsDiff, NamesNobodyWithinChance) {
  const auto noisy = [](std::uint64_t seed) {
    return [seed](std::int32_t rank, std::int64_t step) {
      std::mt19937_64 random(seed * 1000 + static_cast<std::uint64_t>(rank) * 100 +
                             static_cast<std::uint64_t>(step));
      Partition parts = training()(rank, step);
      parts[Cause::host_bound] += static_cast<std::int64_t>(random() % 40) * kMs;
      return parts;
    };
  };
  int named = 0, shown = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RunsDiff diff =
        diff_of(report_of("a", 4, 20, noisy(2 * seed)), report_of("b", 4, 20, noisy(2 * seed + 1)));
    expect_exact(diff);
    shown += diff.spread.is_beyond_chance();
    named += !diff.changed_ranks.empty();
  }
  EXPECT_LE(shown, 20);  // 5 % of 200, and what chance adds to that
  EXPECT_EQ(named, 0);
}

TEST(RunsDiff, NamesNobodyWhereWaitingIsNotKnown) {
  Report b = report_of("b", 4, 20, training(2, 20));
  for (StepReport& step : b.steps) step.measures.waits_known = false;
  const RunsDiff diff = diff_of(report_of("a", 4, 20, training()), b);
  EXPECT_FALSE(diff.waits_known);
  EXPECT_THAT(diff.changed_ranks, IsEmpty());
  // Waiting of the run that knows it is put to its transfer: else it would look gone.
  EXPECT_EQ(diff.causes[static_cast<std::size_t>(Cause::barrier_wait)].time.a_ns, 0);
  EXPECT_EQ(diff.causes[static_cast<std::size_t>(Cause::transfer)].time.change_ns(), 15 * kMs);
}

TEST(RunsDiff, OfSetsIsTheMeanOfRuns) {
  const auto run_of = [](std::int64_t compute_ms, std::int64_t steps) {
    return sums_of(report_of("run" + std::to_string(compute_ms), 2, steps, [=](std::int32_t, std::int64_t) {
      Partition parts;
      parts[Cause::compute] = compute_ms * kMs;
      return parts;
    }));
  };
  // Each run counts alike, however many steps it has.
  const RunsDiff diff =
      diff_runs({run_of(100, 10), run_of(103, 1000)}, {run_of(111, 7), run_of(114, 8)}).value();
  expect_exact(diff);
  EXPECT_EQ(diff.step.a_ns, 101'500'000);
  EXPECT_EQ(diff.step.b_ns, 112'500'000);
  EXPECT_EQ(diff.spread.of, SpreadOf::runs);
  EXPECT_TRUE(diff.spread.is_beyond_chance());
  EXPECT_EQ(diff.a.steps, 1010);
  // Two runs of 100 and 130 do not tell 115 from 120.
  const RunsDiff wide =
      diff_runs({run_of(100, 10), run_of(130, 10)}, {run_of(110, 10), run_of(130, 10)}).value();
  EXPECT_FALSE(wide.spread.is_beyond_chance());
}

TEST(RunsDiff, FewStepsTellNothing) {
  const RunsDiff diff = diff_of(report_of("a", 2, 4, training()), report_of("b", 2, 4, training(1, 50)));
  EXPECT_EQ(diff.spread.of, SpreadOf::unknown);
  EXPECT_THAT(diff.changed_ranks, IsEmpty());
  expect_exact(diff);
}

TEST(RunsDiff, OfOtherSizesHasNoRanks) {
  const RunsDiff diff = diff_of(report_of("a", 2, 20, training()), report_of("b", 4, 20, training(1, 50)));
  expect_exact(diff);
  EXPECT_THAT(diff.ranks, IsEmpty());
  EXPECT_THAT(diff.changed_ranks, IsEmpty());
  const auto mixed =
      diff_runs({sums_of(report_of("a", 2, 9, training())), sums_of(report_of("b", 4, 9, training()))},
                {sums_of(report_of("c", 2, 9, training()))});
  EXPECT_THAT(mixed.error().message, HasSubstr("a has 2 ranks and b has 4"));
}

TEST(RunsDiff, IsOfTheRanksThatAllHave) {
  Report b = report_of("b", 4, 20, training(1, 20));
  for (StepReport& step : b.steps)
    if (step.rank == 3) step.measures.known = false;
  const RunsDiff diff = diff_of(report_of("a", 4, 20, training()), b);
  expect_exact(diff);
  EXPECT_EQ(diff.ranks.size(), 3U);
  EXPECT_THAT(diff.ranks_left_out, ElementsAre(3));
  Report none = report_of("c", 4, 20, training());
  for (StepReport& step : none.steps) step.measures.known = step.rank == 3;
  EXPECT_THAT(diff_runs({sums_of(b)}, {sums_of(none)}).error().message, HasSubstr("no rank in common"));
}

BucketReport bucket(std::int64_t position, std::int64_t transfer_ms, std::int64_t wait_ms) {
  BucketReport made;
  made.group_name = position < 2 ? "dp" : "tp";
  made.operation = Operation::all_reduce;
  made.position = position;
  made.count = 20;
  made.exposed_transfer_ns = transfer_ms * 40 * kMs;  // of 20 steps on two ranks
  made.exposed_wait_ns = wait_ms * 40 * kMs;
  return made;
}

TEST(RunsDiff, MatchesCollectivesAndSaysWhatIsNewOrGone) {
  Report a = report_of("a", 2, 20, training()), b = report_of("b", 2, 20, training());
  a.buckets = {bucket(0, 10, 2), bucket(1, 5, 0)};
  b.buckets = {bucket(0, 4, 3), bucket(2, 1, 0)};
  const RunsDiff diff = diff_of(a, b);
  expect_exact(diff);
  ASSERT_EQ(diff.collectives.parts.size(), 3U);
  EXPECT_EQ(diff.collectives.parts[0].time.change_ns(), -5 * kMs);
  EXPECT_EQ(diff.collectives.parts[0].transfer.change_ns(), -6 * kMs);
  EXPECT_EQ(diff.collectives.parts[0].presence, Presence::both);
  EXPECT_EQ(diff.collectives.parts[1].presence, Presence::only_a);
  EXPECT_EQ(diff.collectives.parts[2].presence, Presence::only_b);
  EXPECT_DOUBLE_EQ(diff.collectives.parts[0].per_step_a, 1);
  ASSERT_EQ(diff.groups.size(), 2U);
  EXPECT_EQ(diff.groups[0].name, "dp");
  EXPECT_EQ(diff.groups[0].time.change_ns(), -10 * kMs);
  // 30 ms and a little were exposed, of which collectives account for 17 and 8.
  EXPECT_EQ(diff.collectives.rest.a_ns, diff.collectives.whole.a_ns - 17 * kMs);
}

TEST(RunsDiff, SplitsComputeOverLayersAndWallTimeOverPhases) {
  Report a = report_of("a", 2, 20, training()), b = report_of("b", 2, 20, training());
  for (Report* report : {&a, &b}) {
    LayerReport layer;
    layer.layer = 1;
    layer.forward = LayerPass{.total_ns = (report == &a ? 10 : 14) * 40 * kMs};
    if (report == &a) layer.backward = LayerPass{.total_ns = 20 * 40 * kMs};
    report->layers.push_back(layer);
    report->account.ranks.resize(2);
    report->account.spent[Spending::steady] = 4000 * kMs;
    report->account.spent[Spending::checkpoint] = (report == &a ? 0 : 101) * kMs;
  }
  const RunsDiff diff = diff_of(a, b);
  expect_exact(diff);
  ASSERT_EQ(diff.layers.parts.size(), 2U);
  EXPECT_EQ(diff.layers.parts[0].presence, Presence::only_a);
  EXPECT_EQ(diff.layers.parts[0].time.change_ns(), -20 * kMs);
  EXPECT_EQ(diff.layers.parts[1].time.change_ns(), 4 * kMs);
  ASSERT_EQ(diff.phases.parts.size(), 2U);
  EXPECT_EQ(diff.phases.parts[0].phase, Spending::checkpoint);
  EXPECT_EQ(diff.phases.whole.change_ns(), 50'500'000);
}

// Sums that do not divide, ranks with other numbers of steps, sets of runs: the parts sum all the same, and
// each lies within a nanosecond of what exact arithmetic gives.
TEST(RunsDiff, SumsExactlyWhateverTheRuns) {
  std::mt19937_64 random(11);
  const auto upto = [&](std::uint64_t most) { return static_cast<std::int64_t>(random() % most); };
  for (int round = 0; round < 300; ++round) {
    const auto ranks = static_cast<std::int32_t>(1 + upto(9));
    std::vector<RunSums> sides[2];
    for (auto& side : sides)
      for (std::int64_t run = 0, runs = 1 + upto(3); run < runs; ++run) {
        Report report =
            report_of("run" + std::to_string(run), ranks, 1 + upto(30), [&](std::int32_t, std::int64_t) {
              Partition parts;
              for (std::int64_t& ns : parts.ns) ns = upto(3) == 0 ? 0 : upto(1'000'000'007);
              return parts;
            });
        // Of the last rank some steps are missing.
        std::erase_if(report.steps, [&](const StepReport& step) {
          return step.rank == ranks - 1 && step.step > 0 && upto(4) == 0;
        });
        report.account.ranks.resize(static_cast<std::size_t>(ranks));
        for (std::int64_t& ns : report.account.spent.ns) ns = upto(1'000'000'007);
        for (std::int64_t position = 0; position < upto(6); ++position) {
          report.buckets.push_back(bucket(position, 0, 0));
          report.buckets.back().exposed_transfer_ns = upto(1'000'000'007);
        }
        side.push_back(sums_of(report));
      }
    const RunsDiff diff = diff_runs(sides[0], sides[1]).value();
    expect_exact(diff);
    long double step = 0;
    for (const RunSums& run : sides[0])
      for (const RankSums& rank : run.ranks)
        step += static_cast<long double>(rank.parts.total()) / static_cast<long double>(rank.steps) /
                static_cast<long double>(run.ranks.size()) / static_cast<long double>(sides[0].size());
    EXPECT_NEAR(static_cast<double>(step), static_cast<double>(diff.step.a_ns), 0.51);
  }
}

}  // namespace
}  // namespace lockstep::analyzer
