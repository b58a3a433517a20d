// Ranks that came to one number, or to the two sides of a message, and not to the same operation: of each it
// is said what it is in itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

OpenOperation side(Job& job, const char* name, Operation operation, std::int32_t peer) {
  OpenOperation open;
  open.begin = 40'000 * us;
  open.name = job.strings.intern(name);
  open.operation = operation;
  open.peer = peer;
  open.group = 0;
  return open;
}

std::map<std::int32_t, std::string> where_ranks_wait(const Finding& finding) {
  std::map<std::int32_t, std::string> where;
  for (const Standing& standing : finding.standings)
    for (const std::int32_t rank : standing.ranks)
      if (standing.waits) where[rank] += (where[rank].empty() ? "" : " and ") + standing.where;
  return where;
}

// Rank 3 never came to the all-reduce; the others have messages open besides, named as dumps name them.
TEST(HangSides, OfAMessageBothAreNamed) {
  Job job = hung_job({0}, 60 * kSecond, /*noted=*/true);
  job.dumps = Dumps::all;
  job.ranks[1].ending.operations = {side(job, "nccl:recv from rank 2", Operation::recv, 2)};
  job.ranks[2].ending.operations = {side(job, "nccl:send to rank 1", Operation::send, 1)};
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence, Contains("rank 1 waits in nccl:recv from rank 2; rank 2 waits in nccl:send to "
                                       "rank 1 (group data parallel)"));
  const auto where = where_ranks_wait(found);
  EXPECT_EQ(where.at(1), "nccl:recv from rank 2 (group data parallel)");
  EXPECT_EQ(where.at(2), "nccl:send to rank 1 (group data parallel)");
}

// More operations than a finding tells of: the page and the viewer tell where each rank stands all the same.
TEST(HangSides, OfAMessageThatNoSentenceTellsOfBothStandInTheirs) {
  JobBuilder builder;
  builder.group("all", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  for (std::int32_t rank = 0; rank <= 10; ++rank) builder.rank(rank).all_reduce(0, 1000 * us);
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = rank.ending.hang_noted = 100 * kSecond;
  for (std::size_t rank = 0; rank < 10; ++rank) {
    const bool sends = rank % 2 == 0;
    const auto peer = static_cast<std::int32_t>(sends ? rank + 1 : rank - 1);
    job.ranks[rank].ending.operations = {
        side(job, sends ? "send" : "recv", sends ? Operation::send : Operation::recv, peer)};
  }
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence, Contains("5 operations in all never ended"));
  const auto where = where_ranks_wait(found);
  EXPECT_EQ(where.at(8), "send to rank 9 (group all)");
  EXPECT_EQ(where.at(9), "recv from rank 8 (group all)");
}

// Rank 3 came to neither, and rank 1 to another operation than ranks 0 and 2.
TEST(HangSides, WhoIsInAnotherOperationIsNotSaidToWaitInIt) {
  Job job = hung_job({0, 1, 2}, 60 * kSecond);
  OpenOperation& other = job.ranks[1].ending.operations[0];
  other.operation = Operation::broadcast;
  for (const char* name : {"all_reduce gradients", "broadcast"}) {  // whatever it is named
    other.name = job.strings.intern(name);
    for (RankTrace& rank : job.ranks) rank.device = "cuda:0";
    const Finding found = finding(report_of(job), "hang");
    EXPECT_THAT(found.evidence, Contains("ranks 0, 2 wait in all_reduce gradients, the first for 60.0 s"));
    EXPECT_THAT(found.evidence, Contains("rank 1 waits in broadcast for 60.0 s"));
    EXPECT_EQ(where_ranks_wait(found).at(1), "broadcast (group data parallel, number 3)");
  }
  // Its device has not come to it.
  other.begun = false;
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence, Contains("rank 1 has issued broadcast, and its device has not come to it"));
}

// Ranks 0 and 1 hung in different operations of number 3, and the others in number 4 besides: rank 1 cannot
// come to that.
TEST(HangSides, WhatFollowsFromADifferenceIsNoFindingOfItsOwn) {
  Job job = hung_job({0, 1, 2, 3}, 60 * kSecond);
  OpenOperation next = job.ranks[0].ending.operations[0];
  next.sequence = 4;
  next.begin += us;
  for (const std::size_t rank : {0U, 2U, 3U}) job.ranks[rank].ending.operations.push_back(next);
  OpenOperation& other = job.ranks[1].ending.operations[0];
  other.operation = Operation::broadcast;
  other.name = job.strings.intern("broadcast");
  std::vector<Finding> hangs;
  for (const Finding& found : report_of(job).findings)
    if (found.code == "hang") hangs.push_back(found);
  ASSERT_EQ(hangs.size(), 1U);
  EXPECT_THAT(hangs[0].title, HasSubstr("the job hung in different operations"));
  EXPECT_EQ(hangs[0].rank, std::nullopt);
  EXPECT_THAT(hangs[0].evidence, Contains("2 operations in all never ended"));
}

TEST(HangSides, WhoGaveUpIsSaidToHaveBeenInItsOwn) {
  Job job = job_that_gave_up();
  RankTrace& other = job.ranks[3];
  other.communications.back().operation = Operation::broadcast;
  other.activities[other.communications.back().activity].name = job.strings.intern("broadcast");
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence, Contains("ranks 0, 1 waited in all_reduce, the first for 12.0 s, and gave up"));
  EXPECT_THAT(found.evidence, Contains("rank 3 waited in broadcast for 12.0 s, and gave up"));
}

// Who is in the one that the title names is in "it".
TEST(HangSides, WhereAllAreInTheSameNothingIsNamedTwice) {
  const Finding found = finding(report_of(hung_job({0, 1, 3}, 60 * kSecond)), "hang");
  EXPECT_THAT(found.evidence, Contains("ranks 0, 1, 3 wait in it, the first for 60.0 s"));
  EXPECT_THAT(found.evidence, Not(Contains(HasSubstr("wait in all_reduce"))));
  EXPECT_THAT(finding(report_of(hung_job({1}, 60 * kSecond)), "hang").evidence,
              Contains("rank 1 waits in it for 60.0 s"));
}

}  // namespace
}  // namespace lockstep::analyzer
