#include "analyzer/match/unfinished.h"

#include <gtest/gtest.h>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

// Ranks 0 and 1 leave their second all-reduce after 20 s, rank 2 never came to it: it ended its file by
// itself.
Job job_without_rank_2() {
  JobBuilder builder;
  const auto group = builder.group("dp", {0, 1, 2});
  for (const int rank : {0, 1, 2})
    builder.rank(rank).all_reduce(rank, 9).in_group(group).sequence(0).bytes(8);
  for (const int rank : {0, 1})
    builder.rank(rank).all_reduce(20 + rank, 20 * kSecond).in_group(group).sequence(1).bytes(8);
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.closed = true;
  return job;
}

std::vector<bool> unfinished(const Job& job) {
  std::vector<bool> all;
  for (const Match& match : match_communications(job).matches) all.push_back(match.unfinished);
  return all;
}

TEST(Unfinished, WhereAMemberWhoseTraceIsWholeNeverCame) {
  EXPECT_EQ(unfinished(job_without_rank_2()), (std::vector<bool>{false, true}));
}

TEST(Unfinished, NotWhereTheTraceMayHaveLostIt) {
  using Change = void (*)(RankTrace&);
  for (const Change change :
       {Change([](RankTrace& rank) { rank.dropped_events = 1; }), Change([](RankTrace& rank) {
          rank.lost = {{0, 1}};
        }),
        Change([](RankTrace& rank) {
          rank.unrecorded = {{10, 20}};
        }),
        Change([](RankTrace& rank) { rank.ending.closed = false; })}) {
    Job job = job_without_rank_2();
    change(job.ranks[2]);
    EXPECT_EQ(unfinished(job), (std::vector<bool>{false, false}));
  }
}

// Of a rank that was killed its file may hold nothing since long before: what others went on from had ended.
TEST(Unfinished, NotWhereWhoCameWentOn) {
  JobBuilder builder;
  const auto group = builder.group("dp", {0, 1});
  builder.rank(0).all_reduce(0, 9).in_group(group).sequence(0).bytes(8);
  builder.rank(1).all_reduce(1, 9).in_group(group).sequence(0).bytes(8);
  builder.rank(0).all_reduce(20, 30).in_group(group).sequence(1).bytes(8);
  builder.rank(0).all_reduce(40, 20 * kSecond).in_group(group).sequence(2).bytes(8);
  Job job = builder.build();
  job.ranks[0].ending.closed = true;
  job.ranks[1].ending.recorded_until = 30 * kSecond;
  EXPECT_EQ(unfinished(job), (std::vector<bool>{false, false, true}));
  job.ranks[1].ending.closed = true;  // it holds all that the rank did
  EXPECT_EQ(unfinished(job), (std::vector<bool>{false, true, true}));
}

TEST(Unfinished, AKilledRanksTraceTellsOfMostOfTheTime) {
  Job job = job_without_rank_2();
  job.ranks[2].ending.closed = false;
  job.ranks[2].ending.recorded_until = 19 * kSecond;
  EXPECT_EQ(unfinished(job), (std::vector<bool>{false, true}));
  // It may have come in the half that nobody knows of.
  job.ranks[2].ending.recorded_until = 11 * kSecond;
  EXPECT_EQ(unfinished(job), (std::vector<bool>{false, false}));
}

TEST(Unfinished, NotWhereTheMissingRankIsStillInIt) {
  Job job = job_without_rank_2();
  OpenOperation open;
  open.begin = 25;
  open.group = 0;
  open.operation = Operation::all_reduce;
  open.sequence = 1;
  job.ranks[2].ending.operations = {open};
  EXPECT_EQ(unfinished(job), (std::vector<bool>{false, false}));
}

// Rank 2 passes the second one by and goes on to the third, to which nobody else comes.
Job job_that_leaves_one_out() {
  JobBuilder builder;
  const auto group = builder.group("dp", {0, 1, 2});
  for (const int rank : {0, 1, 2})
    builder.rank(rank).all_reduce(rank, 9).in_group(group).sequence(0).bytes(8);
  for (const int rank : {0, 1, 2})
    builder.rank(rank).all_reduce(20 + rank, 20 * kSecond).in_group(group).sequence(rank == 2 ? 2 : 1);
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.closed = true;
  return job;
}

TEST(Unfinished, WhereAMemberLeftItOutAndNobodyGotAnyFurther) {
  EXPECT_EQ(unfinished(job_that_leaves_one_out()), (std::vector<bool>{false, true, true}));
  // It may have been there: its file lacks something.
  Job lost = job_that_leaves_one_out();
  lost.ranks[2].lost = {{10, 20}};
  EXPECT_EQ(unfinished(lost).at(1), false);
}

// Who came went on, so all had come: rank 2's record of it is not there, whatever its file says.
TEST(Unfinished, NotWhereWhoCameWentOnBesideOneThatLacksIt) {
  JobBuilder builder;
  const auto group = builder.group("dp", {0, 1, 2});
  for (const int rank : {0, 1, 2}) {
    for (int number = 0; number < 3; ++number)
      if (rank != 2 || number != 1)
        builder.rank(rank).all_reduce(20 * number + rank, 20 * number + 9).in_group(group).sequence(number);
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.closed = true;
  EXPECT_EQ(unfinished(job), (std::vector<bool>{false, false, false}));
}

TEST(Unfinished, NotWhereTheRankLeftNoTrace) {
  Job job = job_without_rank_2();
  job.ranks.pop_back();
  EXPECT_EQ(unfinished(job), (std::vector<bool>{false, false}));
}

TEST(Unfinished, NotWhereTheRankWasInNoneOfTheGroupsOperations) {
  Job job = job_without_rank_2();
  job.ranks[2].communications.clear();
  job.ranks[2].activities.clear();
  EXPECT_EQ(unfinished(job), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace lockstep::analyzer
