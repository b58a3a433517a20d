#include "analyzer/metrics/waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

// One operation of three ranks that arrive at 0, 10 and 30 and end together at 40.
struct Answer {
  std::vector<std::int64_t> wait_ns;
  std::int32_t last_arriver = kNoRank;
  std::int64_t margin_ns = 0;
  bool root_unknown = false;
};

Answer waits_of(const JobBuilder& builder) {
  const Job job = builder.build();
  const Matching matching = match_communications(job);
  if (matching.matches.size() != 1) ADD_FAILURE() << matching.matches.size() << " matches";
  const MatchWaits waits = compute_waits(job, matching, matching.matches.at(0));
  Answer answer{waits.wait_ns, kNoRank, waits.margin_ns, waits.root_unknown};
  if (waits.last_arriver) {
    answer.last_arriver = job.ranks[matching.records_of(matching.matches[0])[*waits.last_arriver].rank].rank;
  }
  return answer;
}

Answer staggered(Operation operation, std::int32_t root) {
  JobBuilder job;
  const Nanoseconds arrivals[] = {0, 10, 30};
  for (int rank = 0; rank < 3; ++rank) job.rank(rank).collective(operation, arrivals[rank], 40).root(root);
  return waits_of(job);
}

TEST(Waits, EveryoneWaitsForTheLastInNToN) {
  for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                    Operation::all_to_all, Operation::barrier}) {
    const Answer answer = staggered(operation, kNoRank);
    EXPECT_THAT(answer.wait_ns, ElementsAre(30, 20, 0)) << trace::to_string(operation);
    EXPECT_EQ(answer.last_arriver, 2);
    EXPECT_EQ(answer.margin_ns, 20);
  }
}

TEST(Waits, ARankDoesNotWaitBeyondItsOwnEnd) {
  JobBuilder job;
  job.rank(0).all_reduce(0, 30);
  job.rank(1).all_reduce(31, 40);  // 1 ns after: within the resolution, so possible
  EXPECT_THAT(waits_of(job).wait_ns, ElementsAre(30, 0));
}

TEST(Waits, ReceiversOfABroadcastWaitForTheRoot) {
  for (const Operation operation : {Operation::broadcast, Operation::scatter}) {
    Answer answer = staggered(operation, 1);
    EXPECT_THAT(answer.wait_ns, ElementsAre(10, 0, 0));
    EXPECT_EQ(answer.last_arriver, 1);
    EXPECT_EQ(answer.margin_ns, 10);   // the longest wait
    answer = staggered(operation, 0);  // the root is first: nobody waits, nobody is named
    EXPECT_THAT(answer.wait_ns, ElementsAre(0, 0, 0));
    EXPECT_EQ(answer.last_arriver, kNoRank);
    EXPECT_EQ(answer.margin_ns, 0);
  }
}

TEST(Waits, TheRootOfAReduceWaitsForTheLast) {
  for (const Operation operation : {Operation::reduce, Operation::gather}) {
    Answer answer = staggered(operation, 0);
    EXPECT_THAT(answer.wait_ns, ElementsAre(30, 0, 0));
    EXPECT_EQ(answer.last_arriver, 2);
    EXPECT_EQ(answer.margin_ns, 20);
    answer = staggered(operation, 2);  // the root is last itself
    EXPECT_THAT(answer.wait_ns, ElementsAre(0, 0, 0));
    EXPECT_EQ(answer.last_arriver, kNoRank);
  }
}

TEST(Waits, AnUnknownRootIsComputedAsNToNAndFlagged) {
  const Answer answer = staggered(Operation::broadcast, kNoRank);
  EXPECT_THAT(answer.wait_ns, ElementsAre(30, 20, 0));
  EXPECT_TRUE(answer.root_unknown);
  EXPECT_FALSE(staggered(Operation::broadcast, 0).root_unknown);
}

TEST(Waits, WithoutTheRootsRecordNobodyWaits) {
  JobBuilder job;
  job.missing(2);
  job.rank(0).collective(Operation::broadcast, 0, 40).root(2);
  job.rank(1).collective(Operation::broadcast, 30, 40).root(2);
  EXPECT_THAT(waits_of(job).wait_ns, ElementsAre(0, 0));
}

TEST(Waits, ASendWaitsForItsReceiveAndAReceiveForItsSend) {
  JobBuilder late_receiver;
  late_receiver.rank(0).send(1, 0, 40);
  late_receiver.rank(1).recv(0, 25, 40);
  EXPECT_THAT(waits_of(late_receiver).wait_ns, ElementsAre(25, 0));
  EXPECT_EQ(waits_of(late_receiver).last_arriver, 1);
  JobBuilder late_sender;
  late_sender.rank(0).send(1, 25, 40);
  late_sender.rank(1).recv(0, 0, 40);
  EXPECT_THAT(waits_of(late_sender).wait_ns, ElementsAre(0, 25));
  EXPECT_EQ(waits_of(late_sender).last_arriver, 0);
}

TEST(Waits, ASendThatIsOverBeforeItsReceiveBeginsWaitsForNobody) {
  JobBuilder job;
  job.rank(0).send(1, 0, 9);
  job.rank(1).recv(0, 25, 40);
  EXPECT_THAT(waits_of(job).wait_ns, ElementsAre(0, 0));
  EXPECT_EQ(waits_of(job).last_arriver, kNoRank);
}

TEST(Waits, NobodyIsNamedWithinTheUncertainty) {
  for (const Nanoseconds margin : {1, 2}) {
    JobBuilder job;
    job.rank(0).all_reduce(0, 40);
    job.rank(1).all_reduce(margin, 40);
    EXPECT_EQ(waits_of(job).last_arriver, margin == 1 ? kNoRank : 1) << margin;
    EXPECT_THAT(waits_of(job).wait_ns, ElementsAre(margin, 0));  // the wait itself is still counted
  }
}

TEST(Waits, WholeMicrosecondsAreUncertainByOne) {
  JobBuilder job;
  job.rank(0).all_reduce(0, 9000).trace().resolution_ns = 1000;
  job.rank(1).all_reduce(1000, 9000).trace().resolution_ns = 1000;
  EXPECT_EQ(waits_of(job).last_arriver, kNoRank);
  job.rank(2).all_reduce(2001, 9000).trace().resolution_ns = 1000;
  EXPECT_EQ(waits_of(job).last_arriver, 2);
}

TEST(Waits, ClocksOfDifferentHostsAddUp) {
  for (const char* host : {"a", "b"}) {
    JobBuilder job;
    job.rank(0).all_reduce(0, 100).trace().host = "a";
    job.rank(1).all_reduce(50, 100).trace().host = host;
    job.rank(0).trace().clock.uncertainty_ns = 30;
    job.rank(1).trace().clock.uncertainty_ns = 25;
    EXPECT_EQ(waits_of(job).last_arriver, host[0] == 'a' ? 1 : kNoRank);
  }
}

TEST(Waits, AmongUnrelatedClocksNobodyWaits) {
  JobBuilder job;
  job.rank(0).all_reduce(0, 100);
  job.rank(1).all_reduce(50, 100).trace().clock.related = false;
  EXPECT_THAT(waits_of(job).wait_ns, ElementsAre(0, 0));
  EXPECT_EQ(waits_of(job).last_arriver, kNoRank);
}

TEST(Waits, InACollectiveThatARankNeverCameToAllWaitToItsEndAndNobodyWasLast) {
  JobBuilder builder;
  const auto group = builder.group("dp", {0, 1, 2});
  for (const int rank : {0, 1, 2}) builder.rank(rank).all_reduce(rank, 9).in_group(group).sequence(0);
  for (const int rank : {0, 1}) builder.rank(rank).all_reduce(20 + rank, 5000).in_group(group).sequence(1);
  Job job = builder.build();
  job.ranks[2].ending.closed = true;
  const Matching matching = match_communications(job);
  ASSERT_EQ(matching.matches.size(), 2U);
  const MatchWaits waits = compute_waits(job, matching, matching.matches[1]);
  EXPECT_THAT(waits.wait_ns, ElementsAre(4980, 4979));
  EXPECT_FALSE(waits.last_arriver.has_value());
  EXPECT_EQ(waits.margin_ns, 0);
}

}  // namespace
}  // namespace lockstep::analyzer
