#include "analyzer/diagnose/shown_by_others.h"

#include <gtest/gtest.h>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

// Steps of 100, in each of which ranks 0 and 1 meet in all-reduces: [10, 40), [20, 50) and [60, 90). Of rank
// 1 the file was not closed and holds the first step alone.
Job job_of(int steps_of_rank_0, Operation operation = Operation::all_reduce) {
  JobBuilder builder;
  const std::uint32_t group = builder.group("all", {0, 1});
  for (const int rank : {0, 1}) {
    const int steps = rank == 0 ? steps_of_rank_0 : 1;
    int number = 0;
    for (int step = 0; step < steps; ++step) {
      builder.rank(rank).step(step, 100 * step, 100 * step + 100);
      for (const auto& [begin, end] : {std::pair{10, 40}, {20, 50}, {60, 90}})
        builder.rank(rank)
            .collective(operation, 100 * step + begin, 100 * step + end)
            .in_group(group)
            .sequence(number++)
            .in_step(static_cast<std::uint32_t>(step));
    }
  }
  Job job = builder.build();
  job.ranks[0].ending.closed = true;
  return job;
}

TEST(ShownByOthers, StepsThatAnotherHasBehindItWereEndedTogether) {
  const auto shown = ShownByOthers(job_of(3)).last_of(1);
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->sequence, 5);  // the last one of step 1
  EXPECT_EQ(shown->step, 1);
  EXPECT_EQ(shown->end, 190);
}

// The first one of a step may have failed, and the next one have begun before the rank waited for it.
TEST(ShownByOthers, TheLastStepProvesNothing) {
  EXPECT_EQ(last_ended_together(job_of(3)).begin()->second.sequence, 5);
  EXPECT_FALSE(ShownByOthers(job_of(2)).last_of(1).has_value());
}

TEST(ShownByOthers, AnOperationThatIsOpenIsALaterOne) {
  Job job = job_of(2);
  OpenOperation open;
  open.begin = 205;
  open.group = 0;
  job.ranks[0].ending.operations.push_back(open);
  EXPECT_EQ(ShownByOthers(job).last_of(1)->sequence, 5);
}

// Whoever sends a broadcast need not wait for those who receive it.
TEST(ShownByOthers, NotEveryCollectiveNeedsAll) {
  EXPECT_FALSE(ShownByOthers(job_of(3, Operation::broadcast)).last_of(1).has_value());
}

TEST(ShownByOthers, AClosedFileLacksNothing) {
  Job job = job_of(3);
  job.ranks[1].ending.closed = true;
  EXPECT_FALSE(ShownByOthers(job).last_of(1).has_value());
}

TEST(ShownByOthers, ARankOutsideOfTheGroupHasNoPartInIt) {
  Job job = job_of(3);
  job.groups[0].ranks = {0, 2};
  EXPECT_FALSE(ShownByOthers(job).last_of(1).has_value());
}

TEST(ShownByOthers, WithoutStepsTheNextOneOfTheGroupTells) {
  Job job = job_of(2);
  for (RankTrace& rank : job.ranks) {
    rank.steps.clear();
    for (Activity& activity : rank.activities) activity.step = kNone;
  }
  const auto shown = ShownByOthers(job).last_of(1);
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->sequence, 4);  // [120, 150), before [160, 190)
  EXPECT_FALSE(shown->step.has_value());
}

}  // namespace
}  // namespace lockstep::analyzer
