#include "analyzer/match/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/match/test_matching.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Match, SequenceNumbersOutweighOrder) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  // Rank 1's trace begins one operation later.
  job.rank(0).all_reduce(0, 30).in_group(dp).sequence(4).all_reduce(40, 60).in_group(dp).sequence(5);
  job.rank(1).all_reduce(41, 60).in_group(dp).sequence(5);
  EXPECT_THAT(match(job).lines,
              ElementsAre("all_reduce sequence [0@0] partial", "all_reduce sequence [0@40 1@41]"));
}

TEST(Match, TwoGroupsCanHaveTheSameRanks) {
  JobBuilder job;
  const auto a = job.group("a", {0, 1}), b = job.group("b", {0, 1});
  job.rank(0).all_reduce(0, 20).in_group(a).sequence(0).all_reduce(1, 20).in_group(b).sequence(0);
  job.rank(1).all_reduce(2, 20).in_group(b).sequence(0).all_reduce(3, 20).in_group(a).sequence(0);
  EXPECT_THAT(match(job).lines,
              ElementsAre("all_reduce sequence [0@0 1@3]", "all_reduce sequence [0@1 1@2]"));
}

TEST(Match, GroupsOfOneNameDifferByTheirRanks) {
  JobBuilder job;
  const auto low = job.group("tp", {0, 1}), high = job.group("tp", {2, 3});
  for (const int rank : {0, 1}) job.rank(rank).all_reduce(rank, 9).in_group(low).sequence(0);
  for (const int rank : {2, 3}) job.rank(rank).all_reduce(rank, 9).in_group(high).sequence(0);
  EXPECT_THAT(match(job).lines,
              ElementsAre("all_reduce sequence [0@0 1@1]", "all_reduce sequence [2@2 3@3]"));
}

TEST(Match, OneGroupDeclaredByEachRankIsOne) {
  JobBuilder job;
  const auto one = job.group("dp", {0, 1}), same = job.group("dp", {0, 1});
  job.rank(0).all_reduce(0, 9).in_group(one).sequence(0);
  job.rank(1).all_reduce(1, 9).in_group(same).sequence(0);
  EXPECT_THAT(match(job).lines, ElementsAre("all_reduce sequence [0@0 1@1]"));
}

TEST(Match, NumbersThatCountPerFunctionAreRecognised) {
  JobBuilder job;
  const auto dp = job.group("0xabc", {0, 1});
  for (const int rank : {0, 1}) {
    job.rank(rank).all_reduce(rank, 9).in_group(dp).sequence(0);
    job.rank(rank).collective(Operation::all_gather, 20 + rank, 29).in_group(dp).sequence(0);
  }
  EXPECT_THAT(match(job).lines, ElementsAre("all_reduce function_sequence [0@0 1@1]",
                                            "all_gather function_sequence [0@20 1@21]"));
}

TEST(Match, SeveralKernelsOfOneNumberMatchByOccurrence) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  for (const int rank : {0, 1}) {
    job.rank(rank)
        .all_reduce(rank, 9)
        .in_group(dp)
        .sequence(7)
        .all_reduce(20 + rank, 29)
        .in_group(dp)
        .sequence(7);
  }
  EXPECT_THAT(match(job).lines,
              ElementsAre("all_reduce sequence [0@0 1@1]", "all_reduce sequence [0@20 1@21]"));
}

TEST(Match, WithoutGroupsByOperationAndOrderOverAllRanks) {
  JobBuilder job;
  job.rank(0).all_reduce(0, 9).collective(Operation::all_to_all, 10, 19).all_reduce(20, 29);
  job.rank(1).collective(Operation::all_to_all, 1, 19).all_reduce(2, 9).all_reduce(21, 29);
  EXPECT_THAT(match(job).lines,
              ElementsAre("all_reduce order_all_ranks [0@0 1@2]", "all_reduce order_all_ranks [0@20 1@21]",
                          "all_to_all order_all_ranks [0@10 1@1]"));
}

TEST(Match, WithoutAGroupAmongSeveralGroupsNothingIsClaimed) {
  JobBuilder job;
  const auto tp = job.group("tp", {0, 1}), dp = job.group("dp", {0, 1});
  for (const int rank : {0, 1}) {
    job.rank(rank).all_reduce(rank, 9).in_group(tp).sequence(0).all_reduce(20, 29).in_group(dp).sequence(0);
    job.rank(rank).collective(Operation::all_gather, 40, 49);
  }
  const Matched result = match(job);
  EXPECT_THAT(result.lines, ElementsAre("all_gather none [0@40] partial", "all_gather none [1@40] partial",
                                        "all_reduce sequence [0@0 1@1]", "all_reduce sequence [0@20 1@20]"));
  EXPECT_EQ(result.matching.unmatched, 0);  // collectives that stand alone are no such records
}

TEST(Match, ARankThatIsMissingMakesItPartial) {
  JobBuilder job;
  job.missing(2);
  job.rank(0).all_reduce(0, 9);
  job.rank(1).all_reduce(1, 9);
  const Matched result = match(job);
  EXPECT_THAT(result.lines, ElementsAre("all_reduce order_all_ranks [0@0 1@1] partial"));
  EXPECT_EQ(result.matching.unmatched, 0);
}

TEST(Match, AnEndBeforeAnothersStartIsImpossible) {
  JobBuilder job;
  job.rank(0).all_reduce(0, 9).all_reduce(100, 120);
  job.rank(1).all_reduce(11, 20).all_reduce(101, 120);
  const Matched result = match(job);
  EXPECT_THAT(result.lines,
              ElementsAre("all_reduce rejected [0@0] partial", "all_reduce rejected [1@11] partial",
                          "all_reduce order_all_ranks [0@100 1@101]"));
  EXPECT_EQ(result.matching.unmatched, 2);
  EXPECT_EQ(result.matching.impossible, 1);
}

// Rank 1 lacks the first operations: by order its k-th meets another one. That two of these pairs overlap all
// the same proves nothing.
TEST(Match, AnOrderThatTimesDisproveIsNotBelievedAtAll) {
  for (const int impossible : {2, 3}) {
    JobBuilder job;
    for (int k = 0; k < 5; ++k) {
      const Nanoseconds begin = 100 * k;
      job.rank(0).all_reduce(begin, begin + 20);
      job.rank(1).all_reduce(k < impossible ? begin + 50 : begin, k < impossible ? begin + 70 : begin + 20);
    }
    const Matched result = match(job);
    EXPECT_EQ(result.matching.impossible, impossible);
    // Two disproved beside three is a doubt, three beside two a proof.
    EXPECT_EQ(result.matching.distrusted, impossible == 2 ? 0 : 2);
    EXPECT_EQ(result.matching.unmatched, impossible == 2 ? 4 : 10);
    for (const Match& one : result.matching.matches) EXPECT_LE(one.record_count, impossible == 2 ? 2U : 1U);
  }
}

// What carries numbers is believed or not each for itself.
TEST(Match, NumbersAreNotDistrustedForAnOrder) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  for (int k = 0; k < 5; ++k) {
    const Nanoseconds begin = 100 * k;
    job.rank(0).all_reduce(begin, begin + 20).in_group(dp).sequence(k);
    job.rank(1)
        .all_reduce(k < 3 ? begin + 50 : begin, k < 3 ? begin + 70 : begin + 20)
        .in_group(dp)
        .sequence(k);
  }
  const Matched result = match(job);
  EXPECT_EQ(result.matching.impossible, 3);
  EXPECT_EQ(result.matching.distrusted, 0);
}

TEST(Match, TheTimestampsResolutionIsTolerated) {
  for (const Nanoseconds begin : {10, 11}) {
    JobBuilder job;
    job.rank(0).all_reduce(0, 9);
    job.rank(1).all_reduce(begin, 20);  // 1 or 2 ns after the end; the resolution is 1 ns
    EXPECT_EQ(match(job).matching.impossible, begin == 10 ? 0 : 1) << begin;
  }
}

TEST(Match, ClocksOfDifferentHostsAreTolerated) {
  for (const std::string host : {"a", "b"}) {
    JobBuilder job;
    job.rank(0).all_reduce(0, 9).trace().host = "a";
    job.rank(1).all_reduce(40, 50).trace().host = host;
    job.rank(0).trace().clock.uncertainty_ns = 20;
    job.rank(1).trace().clock.uncertainty_ns = 10;
    EXPECT_EQ(match(job).matching.impossible, host == "b" ? 0 : 1) << host;
  }
}

TEST(Match, ABroadcastsRootMayEndBeforeALateReceiverStarts) {
  JobBuilder job;
  job.rank(0).collective(Operation::broadcast, 0, 9).root(0);
  job.rank(1).collective(Operation::broadcast, 100, 109).root(0);
  EXPECT_EQ(match(job).matching.impossible, 0);
}

TEST(Match, SizesThatDifferAreAContradiction) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  job.rank(0).all_reduce(0, 9).in_group(dp).sequence(3).bytes(400);
  job.rank(1).all_reduce(1, 9).in_group(dp).sequence(3).bytes(800);
  const Matched result = match(job);
  // The number outweighs the size: still one operation, but of unknown size.
  EXPECT_THAT(result.lines, ElementsAre("all_reduce sequence [0@0 1@1]"));
  EXPECT_EQ(result.matching.matches[0].bytes, -1);
  ASSERT_EQ(result.matching.contradictions.size(), 1u);
  const Contradiction& contradiction = result.matching.contradictions[0];
  EXPECT_TRUE(contradiction.disagreement.bytes);
  EXPECT_FALSE(contradiction.disagreement.data_type);
  EXPECT_EQ(contradiction.position, 3);
  EXPECT_EQ(communication_of(result.job, contradiction.one).bytes, 400);
  EXPECT_EQ(communication_of(result.job, contradiction.other).bytes, 800);
}

TEST(Match, ByOrderAloneSizesMustAgree) {
  JobBuilder job;
  job.rank(0).all_reduce(0, 9).bytes(400);
  job.rank(1).all_reduce(1, 9).bytes(800);
  const Matched result = match(job);
  EXPECT_THAT(result.lines,
              ElementsAre("all_reduce rejected [0@0] partial", "all_reduce rejected [1@1] partial"));
  EXPECT_EQ(result.matching.contradictions.size(), 1u);
  EXPECT_EQ(result.matching.unmatched, 2);
}

TEST(Match, DifferentOperationsOfOneNumberNeverMeet) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  job.rank(0).all_reduce(0, 9).in_group(dp).sequence(3);
  job.rank(1).collective(Operation::all_gather, 1, 9).in_group(dp).sequence(3);
  const Matched result = match(job);
  EXPECT_THAT(result.lines,
              ElementsAre("all_reduce rejected [0@0] partial", "all_gather rejected [1@1] partial"));
  ASSERT_EQ(result.matching.contradictions.size(), 1u);
  EXPECT_TRUE(result.matching.contradictions[0].disagreement.operation);
}

TEST(Match, AnAllToAllsRanksMaySendDifferentAmounts) {
  JobBuilder job;
  job.rank(0).collective(Operation::all_to_all, 0, 9).bytes(400);
  job.rank(1).collective(Operation::all_to_all, 1, 9).bytes(800);
  const Matched result = match(job);
  EXPECT_THAT(result.matching.contradictions, IsEmpty());
  EXPECT_EQ(result.matching.matches.at(0).bytes, 800);
}

TEST(MatchP2p, SendsMeetReceivesByOrderPerDirection) {
  JobBuilder job;
  const auto world = job.group("world", {0, 1, 2});
  job.rank(0).send(1, 0, 9).in_group(world).send(2, 10, 19).in_group(world).send(1, 20, 29).in_group(world);
  job.rank(1).recv(0, 1, 9).in_group(world).recv(0, 21, 29).in_group(world);
  job.rank(2).recv(0, 11, 19).in_group(world);
  const Matched result = match(job);
  EXPECT_THAT(result.lines, ElementsAre("send_recv order [0@0 1@1]", "send_recv order [0@20 1@21]",
                                        "send_recv order [0@10 2@11]"));
  EXPECT_EQ(result.matching.unmatched, 0);
}

TEST(MatchP2p, BothDirectionsAtOnce) {
  JobBuilder job;
  job.rank(0).send(1, 0, 9).recv(1, 1, 9);
  job.rank(1).send(0, 2, 9).recv(0, 3, 9);
  EXPECT_THAT(match(job).lines, ElementsAre("send_recv order_all_ranks [0@0 1@3]",    // 0 -> 1
                                            "send_recv order_all_ranks [0@1 1@2]"));  // 1 -> 0
}

TEST(MatchP2p, ASurplusHasNoPartner) {
  JobBuilder job;
  job.rank(0).send(1, 0, 9).send(1, 10, 19);
  job.rank(1).recv(0, 1, 9);
  const Matched result = match(job);
  EXPECT_THAT(result.lines, ElementsAre("send_recv order_all_ranks [0@0 1@1]"));
  EXPECT_EQ(result.matching.unmatched, 1);
}

TEST(MatchP2p, ImpossiblePairsAreRejected) {
  JobBuilder job;
  job.rank(0).send(1, 50, 59);
  job.rank(1).recv(0, 0, 9);
  const Matched result = match(job);
  EXPECT_THAT(result.lines, ElementsAre("send rejected [0@50] partial", "recv rejected [1@0] partial"));
  EXPECT_EQ(result.matching.unmatched, 2);
}

// NCCL keeps a small message until its receiver comes.
TEST(MatchP2p, ASendMayEndBeforeItsReceiveBegins) {
  JobBuilder job;
  job.rank(0).send(1, 0, 9);
  job.rank(1).recv(0, 50, 59);
  const Matched result = match(job);
  EXPECT_THAT(result.lines, ElementsAre("send_recv order_all_ranks [0@0 1@50]"));
  EXPECT_EQ(result.matching.unmatched, 0);
}

TEST(MatchP2p, ExchangesOfTwoRanksPairByOrderIfEquallyMany) {
  for (const bool equal : {true, false}) {
    JobBuilder job;
    job.rank(0).p2p(Operation::send_recv, kNoRank, 0, 9).p2p(Operation::send_recv, kNoRank, 20, 29);
    job.rank(1).p2p(Operation::send_recv, kNoRank, 1, 9);
    if (equal) job.rank(1).p2p(Operation::send_recv, kNoRank, 21, 29);
    const Matched result = match(job);
    if (equal) {
      EXPECT_THAT(result.lines, ElementsAre("send_recv order_all_ranks [0@0 1@1]",
                                            "send_recv order_all_ranks [0@20 1@21]"));
      EXPECT_TRUE(result.matching.matches[0].point_to_point);
    } else {
      EXPECT_THAT(result.lines, IsEmpty());
    }
    EXPECT_EQ(result.matching.unmatched, equal ? 0 : 3);
  }
}

TEST(MatchP2p, ExchangesOfALargerGroupAreAnAllToAllIfEquallyMany) {
  for (const bool equal : {true, false}) {
    JobBuilder job;
    for (const int rank : {0, 1, 2}) job.rank(rank).p2p(Operation::send_recv, kNoRank, rank, 9);
    for (const int rank : {0, 1, 2})
      if (equal || rank != 1) job.rank(rank).p2p(Operation::send_recv, kNoRank, 20 + rank, 29);
    const Matched result = match(job);
    if (equal) {
      EXPECT_THAT(result.lines, ElementsAre("all_to_all order_all_ranks [0@0 1@1 2@2]",
                                            "all_to_all order_all_ranks [0@20 1@21 2@22]"));
    } else {
      EXPECT_THAT(result.lines, IsEmpty());  // some exchange with some: nobody knows who with whom
    }
    EXPECT_EQ(result.matching.unmatched, equal ? 0 : 5);
  }
}

// A rank that left no trace has no count.
TEST(MatchP2p, AnAllToAllOfExchangesMayLackARank) {
  JobBuilder job;
  job.missing(3);
  for (const int rank : {0, 1, 2}) job.rank(rank).p2p(Operation::send_recv, kNoRank, rank, 9);
  EXPECT_THAT(match(job).lines, ElementsAre("all_to_all order_all_ranks [0@0 1@1 2@2] partial"));
}

// The stages of a pipeline exchange with their neighbours, however many messages are one batch.
TEST(MatchP2p, ExchangesOfAPipelineAreNoAllToAll) {
  JobBuilder job;
  const auto stages = job.group("pp", {0, 1, 2});
  for (const int rank : {0, 1, 2})
    job.rank(rank).p2p(Operation::send_recv, kNoRank, rank, 9).in_group(stages);
  const Matched result = match(job);
  EXPECT_THAT(result.lines, IsEmpty());
  EXPECT_EQ(result.matching.unmatched, 3);
}

TEST(MatchP2p, AnExchangeWhosePeerIsKnownPairsInAnyGroup) {
  JobBuilder job;
  const auto world = job.group("world", {0, 1, 2});
  job.rank(0).p2p(Operation::send_recv, 2, 0, 9).in_group(world);
  job.rank(1).p2p(Operation::send_recv, 2, 20, 29).in_group(world);
  job.rank(2)
      .p2p(Operation::send_recv, 0, 1, 9)
      .in_group(world)
      .p2p(Operation::send_recv, 1, 21, 29)
      .in_group(world);
  EXPECT_THAT(match(job).lines, ElementsAre("send_recv order [0@0 2@1]", "send_recv order [1@20 2@21]"));
}

// However many ranks the job has.
TEST(MatchP2p, WithoutGroupAndPeerAmongSeveralGroupsNothingIsClaimed) {
  for (const int ranks : {2, 3}) {
    SCOPED_TRACE(ranks);
    JobBuilder job;
    std::vector<std::int32_t> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
    const auto tp = job.group("tp", all), dp = job.group("dp", all);
    for (int rank = 0; rank < ranks; ++rank) {
      job.rank(rank).all_reduce(rank, 9).in_group(tp).sequence(0);
      job.rank(rank).all_reduce(20, 29).in_group(dp).sequence(0);
      job.rank(rank).p2p(Operation::send_recv, kNoRank, 40 + rank, 49);
    }
    const Matched result = match(job);
    std::vector<std::string> exchanges;
    for (const std::string& line : result.lines)
      if (line.starts_with("send_recv")) exchanges.push_back(line);
    std::vector<std::string> expected;
    for (int rank = 0; rank < ranks; ++rank)
      expected.push_back("send_recv none [" + std::to_string(rank) + "@" + std::to_string(40 + rank) +
                         "] partial");
    EXPECT_EQ(exchanges, expected);
    EXPECT_EQ(result.matching.unmatched, ranks);
  }
}

TEST(Match, PipelineGroupsAreKnownByTheirDescription) {
  JobBuilder job;
  job.group("1", {0, 1}, "mesh_pp");
  job.group("2", {0, 1}, "PIPELINE_MODEL_PARALLEL_GROUP");
  job.group("3", {0, 1}, "mapper pipes");
  job.group("4", {0, 1}, "dp");
  job.rank(0).compute(0, 1);
  const Matched result = match(job);
  std::vector<bool> pipeline;
  for (const MatchGroup& group : result.matching.groups) pipeline.push_back(group.pipeline);
  EXPECT_THAT(pipeline, ElementsAre(true, true, false, false, false));
}

}  // namespace
}  // namespace lockstep::analyzer
