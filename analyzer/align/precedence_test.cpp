#include "analyzer/align/precedence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {

static bool operator==(const Precedence& a, const Precedence& b) {
  return std::tie(a.earlier_clock, a.later_clock, a.earlier, a.later) ==
         std::tie(b.earlier_clock, b.later_clock, b.earlier, b.later);
}

namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<Precedence> precedences_of(const JobBuilder& builder, const std::vector<std::uint32_t>& clocks) {
  const Job job = builder.build();
  return find_precedences(job, match_communications(job, Times::ignore), clocks);
}

TEST(Precedence, EverybodysArrivalBeforeEverybodysEnd) {
  JobBuilder job;
  job.rank(0).all_reduce(10, 50);
  job.rank(1).all_reduce(1020, 1051);
  EXPECT_THAT(precedences_of(job, {0, 1}),
              UnorderedElementsAre(Precedence{0, 1, 10, 1051}, Precedence{1, 0, 1020, 50}));
}

TEST(Precedence, RanksOfOneClockSpeakTogether) {
  JobBuilder job;
  job.rank(0).all_reduce(10, 50);
  job.rank(1).all_reduce(30, 52);
  job.rank(2).all_reduce(1020, 1051);
  EXPECT_THAT(precedences_of(job, {0, 0, 1}),
              UnorderedElementsAre(Precedence{0, 1, 30, 1051}, Precedence{1, 0, 1020, 50}));
  EXPECT_THAT(precedences_of(job, {0, 0, 0}), IsEmpty());
}

TEST(Precedence, OfManyClocksEachMeetsTheFirst) {
  JobBuilder job;
  std::vector<std::uint32_t> clocks;
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    job.rank(static_cast<int>(rank)).all_reduce(10, 50);
    clocks.push_back(rank);
  }
  EXPECT_EQ(precedences_of(job, clocks).size(), 10u);
  for (const Precedence& precedence : precedences_of(job, clocks))
    EXPECT_TRUE(precedence.earlier_clock == 0 || precedence.later_clock == 0);
}

TEST(Precedence, AReceiveEndsAfterItsSendBegan) {
  JobBuilder job;
  const std::uint32_t group = job.group("pp", {0, 1});
  job.rank(0).send(1, 10, 12).in_group(group);
  job.rank(1).recv(0, 1000, 1020).in_group(group);
  EXPECT_THAT(precedences_of(job, {0, 1}), UnorderedElementsAre(Precedence{0, 1, 10, 1020}));
}

TEST(Precedence, ABroadcastFollowsItsRootAndAReductionsRootFollowsAll) {
  JobBuilder job;
  const std::uint32_t group = job.group("g", {0, 1, 2});
  for (int rank = 0; rank < 3; ++rank) {
    job.rank(rank).collective(Operation::broadcast, 10 + rank, 20 + rank).in_group(group).sequence(1).root(1);
    job.rank(rank).collective(Operation::reduce, 30 + rank, 40 + rank).in_group(group).sequence(2).root(0);
  }
  EXPECT_THAT(precedences_of(job, {0, 1, 2}),
              UnorderedElementsAre(Precedence{1, 0, 11, 20}, Precedence{1, 2, 11, 22},
                                   Precedence{1, 0, 31, 40}, Precedence{2, 0, 32, 40}));
}

TEST(Precedence, CoarseTimestampsLoosenIt) {
  JobBuilder job;
  job.rank(0).all_reduce(1000, 5000).trace().resolution_ns = 1000;
  job.rank(1).all_reduce(2000, 5100);
  EXPECT_THAT(precedences_of(job, {0, 1}),
              UnorderedElementsAre(Precedence{0, 1, 1000, 6100}, Precedence{1, 0, 2000, 6000}));
}

TEST(Precedence, OperationsThatAreNotTheSameSayNothing) {
  JobBuilder job;
  const std::uint32_t group = job.group("g", {0, 1});
  job.rank(0).all_reduce(10, 50).in_group(group).sequence(1);
  job.rank(1).collective(Operation::all_gather, 10, 50).in_group(group).sequence(1);
  EXPECT_THAT(precedences_of(job, {0, 1}), IsEmpty());
}

}  // namespace
}  // namespace lockstep::analyzer
