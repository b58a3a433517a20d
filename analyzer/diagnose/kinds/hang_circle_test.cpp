// Ranks that wait for each other, and ranks that gave up waiting for one that was still there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Ranks 0 to `ranks` - 1 of one group, after one all-reduce; their recordings end a minute later.
Job waiting_job(std::int32_t ranks) {
  JobBuilder builder;
  std::vector<std::int32_t> members;
  for (std::int32_t rank = 0; rank < ranks; ++rank) members.push_back(rank);
  const std::uint32_t group = builder.group("pipeline", members);
  builder.group("all", members);
  for (const std::int32_t rank : members)
    builder.rank(rank).all_reduce(0, 1000 * us).in_group(group).sequence(0);
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = 60 * kSecond;
  return job;
}

void wait_for_message(Job& job, std::int32_t rank, std::int32_t from) {
  OpenOperation open;
  open.begin = 2000 * us + rank;
  open.name = job.strings.intern("recv");
  open.operation = Operation::recv;
  open.peer = from;
  open.group = 0;
  job.ranks[static_cast<std::size_t>(rank)].ending.operations.push_back(open);
  job.ranks[static_cast<std::size_t>(rank)].ending.ranges.push_back(
      job.strings.intern("wait for communication"));
}

void wait_in(Job& job, std::int32_t rank, std::uint32_t group, const char* name, Operation operation,
             std::int64_t sequence) {
  OpenOperation open;
  open.begin = 2000 * us + rank;
  open.name = job.strings.intern(name);
  open.operation = operation;
  open.sequence = sequence;
  open.group = group;
  job.ranks[static_cast<std::size_t>(rank)].ending.operations.push_back(open);
}

std::vector<Finding> hangs(const Job& job) {
  std::vector<Finding> found;
  for (const Finding& finding : report_of(job).findings)
    if (finding.code == "hang") found.push_back(finding);
  return found;
}

TEST(HangCircle, OfTwoThatBothReceiveFirst) {
  Job job = waiting_job(2);
  wait_for_message(job, 0, 1);
  wait_for_message(job, 1, 0);
  const std::vector<Finding> found = hangs(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].title,
      "the job hung: ranks 0, 1 wait for each other: rank 0 waits in recv from rank 1 (group pipeline); "
      "rank 1 waits in recv from rank 0 (group pipeline)");
  EXPECT_THAT(found[0].remedy, HasSubstr("send before it receives"));
}

TEST(HangCircle, OfThreeIsOneToo) {
  Job job = waiting_job(3);
  for (const std::int32_t rank : {0, 1, 2}) wait_for_message(job, rank, (rank + 1) % 3);
  const std::vector<Finding> found = hangs(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].title, HasSubstr("ranks 0, 1, 2 wait for each other"));
}

// Whoever waits for nobody is the cause, and the others wait behind it.
TEST(HangCircle, AChainIsNone) {
  Job job = waiting_job(3);
  wait_for_message(job, 0, 1);
  wait_for_message(job, 1, 2);
  const std::vector<Finding> found = hangs(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].title, HasSubstr("rank 2 never came"));
}

TEST(HangCircle, OfTwoGroupsTellsBoth) {
  Job job = waiting_job(2);
  wait_in(job, 0, 1, "barrier", Operation::barrier, 0);
  wait_in(job, 1, 0, "all_reduce", Operation::all_reduce, 1);
  const std::vector<Finding> found = hangs(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].title, HasSubstr("rank 0 waits in barrier (group all, number 0)"));
  EXPECT_THAT(found[0].title, HasSubstr("rank 1 waits in all_reduce (group pipeline, number 1)"));
  EXPECT_THAT(found[0].remedy, HasSubstr("in the same order"));
}

// Rank 0 has waited long before, and is not in its operation for ten times that: it has come to it all the
// same.
TEST(HangCircle, WhoIsInAnotherOperationOfThatNumberIsNotAbsent) {
  JobBuilder builder;
  const std::uint32_t group = builder.group("all", {0, 1});
  builder.rank(0).all_reduce(0, 900'000 * us).in_group(group).sequence(0);
  builder.rank(1).all_reduce(899'000 * us, 900'000 * us).in_group(group).sequence(0);
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = 9 * kSecond;
  wait_in(job, 1, group, "barrier", Operation::barrier, 1);
  wait_in(job, 0, group, "all_reduce", Operation::all_reduce, 1);
  job.ranks[1].ending.operations[0].begin = kSecond;
  job.ranks[0].ending.operations[0].begin = kSecond + 200'000 * us;
  const std::vector<Finding> found = hangs(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].title,
      "the job hung in different operations (group all, number 1): rank 0 in all_reduce, rank 1 in barrier");
  EXPECT_EQ(found[0].rank, std::nullopt);
}

// Seen of an asynchronous checkpoint in the group of training: two threads of a rank race for the next
// number.
TEST(HangCircle, TheSameOperationsInAnotherOrderAreNoOperationTooMany) {
  Job job = waiting_job(2);
  wait_in(job, 0, 0, "all_gather", Operation::all_gather, 3);
  wait_in(job, 0, 0, "broadcast", Operation::broadcast, 4);
  wait_in(job, 1, 0, "broadcast", Operation::broadcast, 3);
  wait_in(job, 1, 0, "all_gather", Operation::all_gather, 4);
  std::vector<Finding> found = hangs(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].title,
      "the job hung in different operations (group pipeline, number 3): rank 0 in all_gather, rank 1 in broadcast");
  EXPECT_THAT(found[0].remedy, HasSubstr("issued in different orders"));
  EXPECT_THAT(found[0].remedy, HasSubstr("a group of its own"));

  job.ranks[1].ending.operations.pop_back();
  found = hangs(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].remedy, HasSubstr("out of step")) << "rank 1 is not in what rank 0 is in next";
}

// Rank 1 is busy elsewhere; rank 0's own timeout ended its wait, and with it the job.
Job job_that_timed_out(Nanoseconds absent_until) {
  Job job = job_with_absent_rank({.ranks = 2, .absent = 1, .all_reduces = 4, .given_up_after = 12 * kSecond});
  job.ranks[0].ending.recorded_until = 13 * kSecond;
  job.ranks[0].ending.closed = true;
  job.ranks[1].ending.recorded_until = absent_until;
  job.end.exit_code = 1;
  return job;
}

TEST(HangGivenUp, NamesWhoNeverCameAndNotWhoGaveUp) {
  const Job job = job_that_timed_out(12 * kSecond);
  const std::vector<Finding> found = hangs(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].title, HasSubstr("rank 1 never came"));
  EXPECT_THAT(found[0].evidence, Contains("rank 0 waited in it for 12.0 s, and gave up"));
  const Finding failed = finding(report_of(job), "job_failed");
  EXPECT_EQ(failed.title, "the job ended with exit code 1");
  EXPECT_EQ(failed.remedy, "see above why it hung");
}

// A crash may take long: an exception is printed, threads are joined, and until then the file goes on.
TEST(HangGivenUp, WhoEndedFirstByItselfIsWhyTheJobFailed) {
  Job job = job_that_timed_out(14 * kSecond);
  job.ranks[0].ending.recorded_until = 16 * kSecond;
  job.ranks[0].ending.closed = false;
  job.ranks[1].ending.closed = true;
  EXPECT_TRUE(hangs(job).empty());
  const Finding failed = finding(report_of(job), "job_failed");
  EXPECT_THAT(failed.title, HasSubstr("rank 1 ended first"));
  EXPECT_THAT(failed.evidence, Contains(HasSubstr("rank 0 waited 12.0 s in all_reduce")));
}

TEST(HangGivenUp, WhoWasGoneLongBeforeIsWhyTheJobFailed) {
  const Job job = job_that_timed_out(2 * kSecond);
  EXPECT_TRUE(hangs(job).empty());
  EXPECT_THAT(finding(report_of(job), "job_failed").title, HasSubstr("rank 1 ended first"));
}

TEST(HangGivenUp, AJobThatEndedWellHasNoHang) {
  Job job = job_that_timed_out(12 * kSecond);
  job.end.exit_code = 0;
  EXPECT_TRUE(hangs(job).empty());
}

// Its record ends long before the interruption: it was killed, or it stands still since. Nobody can tell.
TEST(HangInterrupted, WhoseRecordEndedBeforeIsNotSaidToHaveFailed) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond);
  job.ranks[2].ending.recorded_until = 40'000 * us;
  job.end.exit_code = 1;
  job.end.interrupted_by = 2;
  for (RankTrace& rank : job.ranks) rank.ending.interrupted = 30 * kSecond;
  const Report report = report_of(job);
  const Finding failed = finding(report, "job_failed");
  EXPECT_EQ(failed.title, "the job was interrupted by Ctrl-C (SIGINT); rank 2 ended or stood still before");
  EXPECT_THAT(failed.evidence, Contains(HasSubstr("stood still from then on")));
  EXPECT_THAT(failed.remedy, Not(HasSubstr("because it did")));
  EXPECT_THAT(finding(report, "hang").title, HasSubstr("rank 2 never came"));
}

}  // namespace
}  // namespace lockstep::analyzer
