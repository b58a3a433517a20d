// Whose evaluation, checkpoint or compilation has to do with the steps of a rank.
#include "analyzer/phases_of_any.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kEvaluation = static_cast<std::size_t>(Phase::evaluation);

// Ranks 0 and 1 train one fold, ranks 2 and 3 another: ten steps of 100 with an all-reduce within the fold
// each. At 950 all meet, for which ranks 2 and 3 have waited since 900. Rank 2 evaluates from 320 to 380, and
// from 940 on.
struct Folds {
  bool one_group = false;
  bool meet_in_each_step = false;
  bool clocks_are_related = true;
};
Job job_of(const Folds& folds) {
  JobBuilder job;
  const std::uint32_t all = job.group("all", {0, 1, 2, 3});
  const std::uint32_t of_fold[] = {job.group("fold 0", {0, 1}), job.group("fold 1", {2, 3})};
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    RankBuilder& builder = job.rank(rank);
    builder.trace().clock.related = folds.clocks_are_related || rank != 3;
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds begin = step * 100;
      builder.step(step, begin, begin + 100);
      builder.all_reduce(begin + 60, begin + 80)
          .in_step(static_cast<std::uint32_t>(step))
          .in_group(folds.one_group ? all : of_fold[rank / 2]);
      if (folds.meet_in_each_step)
        builder.all_reduce(begin + 90, begin + 95).in_step(static_cast<std::uint32_t>(step)).in_group(all);
    }
    builder.all_reduce(rank < 2 ? 950 : 900, 960).in_step(9).in_group(all);
  }
  return job.build();
}
std::vector<Phases> phases_of(const Job& job) {
  std::vector<Phases> phases(job.ranks.size());
  phases[2][Phase::evaluation] = IntervalSet::from({{320, 380}, {940, 990}});
  return phases;
}
std::int64_t evaluation_within(const Folds& folds, std::size_t rank, Interval window) {
  const Job job = job_of(folds);
  return PhasesOfAny(job, phases_of(job)).within(rank, kEvaluation, window);
}

TEST(PhasesOfAny, AreThoseOfAllThatMeetInEachStep) {
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(evaluation_within({.one_group = true}, rank, {300, 400}), 60) << rank;
    EXPECT_EQ(evaluation_within({.meet_in_each_step = true}, rank, {300, 400}), 60) << rank;
  }
}

// Seen of folds that train side by side and gather their scores once in an epoch: steps of one were left out
// as the other's evaluation.
TEST(PhasesOfAny, OfRanksThatMeetSeldomAreWhatIsWaitedForMeanwhile) {
  EXPECT_EQ(evaluation_within({}, 0, {300, 400}), 0);
  EXPECT_EQ(evaluation_within({}, 0, {900, 1000}), 10) << "from 950 to 960 all are in one operation";
  EXPECT_EQ(evaluation_within({}, 3, {300, 400}), 60) << "that of its own fold counts all of the time";
  EXPECT_EQ(evaluation_within({}, 2, {900, 1000}), 50);
}

TEST(PhasesOfAny, WithoutOneClockAreOnesOwn) {
  const Folds folds{.one_group = true, .clocks_are_related = false};
  EXPECT_EQ(evaluation_within(folds, 0, {300, 400}), 0);
  EXPECT_EQ(evaluation_within(folds, 2, {300, 400}), 60);
}

// Rank 0 evaluates, and waits in it for rank 2, which saves.
TEST(PhasesOfAny, CountWhatComesFirst) {
  const Job job = job_of({.one_group = true});
  std::vector<Phases> phases(job.ranks.size());
  phases[0][Phase::evaluation] = IntervalSet::from({{300, 390}});
  phases[2][Phase::checkpoint] = IntervalSet::from({{310, 370}});
  phases[1][Phase::compilation] = IntervalSet::from({{360, 380}});
  const PhasesOfAny of_any(job, phases);
  const auto counted = [&](Phase phase) {
    return of_any.counted(3, static_cast<std::size_t>(phase)).measure_within(300, 400);
  };
  EXPECT_EQ(counted(Phase::compilation), 20);
  EXPECT_EQ(counted(Phase::checkpoint), 50);
  EXPECT_EQ(counted(Phase::evaluation), 20);
  EXPECT_EQ(of_any.within(3, kEvaluation, {300, 400}), 90);
}

// Nothing tells who meets whom.
TEST(PhasesOfAny, OfGroupsWithoutRanksAreThoseOfAll) {
  Job job = job_of({});
  for (JobGroup& group : job.groups) group.ranks = {};
  EXPECT_EQ(PhasesOfAny(job, phases_of(job)).within(0, kEvaluation, {300, 400}), 60);
}

}  // namespace
}  // namespace lockstep::analyzer
