// What made a job hang comes before what only followed from it: a device that stands still, ranks out of
// step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

OpenOperation copy_of(const OpenOperation& operation, std::int64_t sequence) {
  OpenOperation copy = operation;
  copy.sequence = sequence;
  copy.begin += sequence;
  return copy;
}

// Rank 1's device ended neither number 3 nor 4, as all others have; they wait in number 5, to which its host
// never came.
TEST(HangCauses, ADeviceThatStandsStillComesFirst) {
  Job job = hung_job({0, 1, 2, 3}, 60 * kSecond, /*noted=*/true);
  for (RankTrace& rank : job.ranks) {
    rank.device = "cuda:0";
    const OpenOperation third = rank.ending.operations[0];
    if (rank.rank == 1) {
      rank.ending.operations.push_back(copy_of(third, 4));
    } else {
      rank.ending.operations = {copy_of(third, 5)};
      rank.ending.progress = {{0, 5, 4}};
    }
  }
  const Report report = report_of(job);
  ASSERT_GE(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].title, "the device of rank 1 stands still");
  EXPECT_EQ(report.findings[1].title,
            "the job hung in all_reduce gradients (group data parallel, number 5): rank 1 never came");
  EXPECT_EQ(report.findings[1].remedy,
            "rank 1 cannot come: its device stands still, as a finding of its own says; begin there");
}

// Rank 3's device is in number 3 still: it has issued number 4, and is not in it.
TEST(HangCauses, WhoStandsInAnEarlierOperationDoesNotWaitInTheLater) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond, /*noted=*/true);
  for (RankTrace& rank : job.ranks) {
    rank.device = "cuda:0";
    if (rank.rank == 2) {
      rank.ending.progress = {{0, 3, 3}};
      continue;
    }
    const OpenOperation fourth = copy_of(rank.ending.operations[0], 4);
    if (rank.rank == 3) {
      rank.ending.operations.push_back(fourth);
    } else {
      rank.ending.operations = {fourth};
      rank.ending.progress = {{0, 4, 3}};
    }
  }
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.title, HasSubstr("number 4): rank 2 never came"));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("ranks 0, 1 wait in it")));
  EXPECT_THAT(found.evidence, Contains("rank 3 has issued it, and stands in an earlier one of the group"));
  std::vector<std::string> places;  // of rank 3
  for (const Standing& standing : found.standings)
    if (standing.ranks == std::vector<std::int32_t>{3}) places.push_back(standing.where);
  EXPECT_THAT(places, ElementsAre("all_reduce gradients (group data parallel, number 3)"));
}

// Ranks 2 and 3 wait for the others, who came to different operations of a group of their own, and later:
// that they do not come is a consequence, and evidence.
TEST(HangCauses, WhoWaitsForRanksThatDisagreeIsNoFindingOfItsOwn) {
  Job job = hung_job({0, 1, 2, 3}, 60 * kSecond, /*noted=*/true);
  JobGroup pair;
  pair.name = "pair";
  pair.ranks = {0, 1};
  job.groups.push_back(pair);
  for (const std::size_t rank : {0U, 1U}) {
    OpenOperation& open = job.ranks[rank].ending.operations[0];
    open.begin += kSecond;
    open.group = 1;
  }
  job.ranks[1].ending.operations[0].operation = Operation::barrier;
  std::vector<std::string> hangs;
  const Report report = report_of(job);
  for (const Finding& found : report.findings)
    if (found.code == "hang") hangs.push_back(found.title);
  EXPECT_THAT(hangs, ElementsAre("the job hung in different operations (group pair, number 3): rank 0 in "
                                 "all_reduce, rank 1 in barrier"));
  EXPECT_THAT(finding(report, "hang").evidence,
              Contains(HasSubstr("ranks 2, 3 wait in all_reduce gradients (group data parallel, number 3)")));
}

// Two ranks' third all-reduce differs in size.
Job job_that_failed(bool numbered, bool goes_on) {
  JobBuilder builder;
  const std::uint32_t group = builder.group("dp", {0, 1});
  for (const std::int32_t rank : {0, 1}) {
    for (int i = 0; i < (goes_on ? 4 : 3); ++i) {
      const Nanoseconds begin = i * 100 * us;
      builder.rank(rank).all_reduce(begin, begin + 100 * us).in_group(group);
      builder.rank(rank).bytes(rank == 1 && i == 2 ? 800 : 400);
      if (numbered) builder.rank(rank).sequence(i);
    }
  }
  Job job = builder.build();
  job.end.exit_code = 1;
  return job;
}

std::vector<std::string> first_two(const Job& job) {
  std::vector<std::string> codes = codes_of(report_of(job).findings);
  codes.resize(2);
  return codes;
}

TEST(HangCauses, AMismatchThatNobodyGotBeyondComesBeforeTheError) {
  EXPECT_THAT(first_two(job_that_failed(true, false)), ElementsAre("mismatched_collectives", "job_failed"));
  EXPECT_THAT(first_two(job_that_failed(true, true)), ElementsAre("job_failed", "mismatched_collectives"))
      << "both went on: it ended nothing";
  EXPECT_THAT(first_two(job_that_failed(false, false)), ElementsAre("job_failed", "mismatched_collectives"))
      << "without numbers the traces may begin at different operations";
}

// However the others left it, nothing was moved: no bandwidth, no last arriver, no transfer.
TEST(HangCauses, AnOperationThatOneRankNeverCameToIsWaitingAlone) {
  Job job = job_that_gave_up();
  for (RankTrace& rank : job.ranks)
    for (Communication& communication : rank.communications) communication.bytes = 1 << 20;
  const Report report = report_of(job);
  ASSERT_EQ(report.collectives.size(), 4U);
  const CollectiveReport& last = report.collectives[3];
  EXPECT_TRUE(last.unfinished);
  EXPECT_EQ(last.last_arriver, std::nullopt);
  EXPECT_EQ(last.algbw_gbps, std::nullopt);
  EXPECT_EQ(last.busbw_gbps, std::nullopt);
  EXPECT_EQ(last.wait_ns, 3 * 12 * kSecond);
  EXPECT_TRUE(report.collectives[2].busbw_gbps.has_value());
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::transfer], 3 * 1000 * us);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::barrier_wait], 12 * kSecond);
}

TEST(HangCauses, BothSpellingsOfTheFlightRecordersSettingAreNamed) {
  const FindingKind* const kind = find_finding_kind("hang");
  ASSERT_NE(kind, nullptr);
  std::string remedies;
  for (const Remedy& remedy : kind->explanation->remedies) remedies += remedy.what;
  EXPECT_THAT(remedies, HasSubstr("TORCH_FR_BUFFER_SIZE"));
  EXPECT_THAT(remedies, HasSubstr("TORCH_NCCL_TRACE_BUFFER_SIZE"));
}

// Messages of a group count from 0 too: who has sent one has not come to the group's collective of that
// number.
TEST(HangCauses, AMessageOfThatNumberIsNotTheCollective) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond, /*noted=*/true);
  RankTrace& absent = job.ranks[2];
  Activity activity = absent.activities.back();
  activity.activity_class = Class::p2p;
  activity.begin = activity.end + 1000;
  activity.end = activity.begin + 1000;
  activity.communication = static_cast<std::uint32_t>(absent.communications.size());
  Communication message;
  message.operation = Operation::recv;
  message.group = 0;
  message.sequence = 3;
  message.peer = 1;
  message.activity = static_cast<std::uint32_t>(absent.activities.size());
  absent.activities.push_back(activity);
  absent.communications.push_back(message);
  EXPECT_EQ(finding(report_of(job), "hang").title,
            "the job hung in all_reduce gradients (group data parallel, number 3): rank 2 never came");
}

// Of a rank whose computations are the host's own, a receive that it does not wait for was asked for early.
TEST(HangCauses, AReceiveThatNobodySendsForHangsWhereItIsWaitedFor) {
  for (const bool waits : {true, false}) {
    Job job = hung_job({}, 60 * kSecond);
    for (RankTrace& rank : job.ranks) rank.device = "cpu";
    OpenOperation receive;
    receive.begin = 36'000 * us;
    receive.name = job.strings.intern("recv");
    receive.operation = Operation::recv;
    receive.peer = 0;
    receive.group = 0;
    job.ranks[1].ending.operations.push_back(receive);
    if (waits) job.ranks[1].ending.ranges.push_back(job.strings.intern("wait for communication"));
    const Report report = report_of(job);
    if (!waits) {
      EXPECT_THAT(codes_of(report.findings), testing::Not(Contains("hang")));
      continue;
    }
    const Finding found = finding(report, "hang");
    EXPECT_THAT(found.title, HasSubstr("recv from rank 0"));
    EXPECT_THAT(found.title, HasSubstr("rank 0 never"));
  }
}

}  // namespace
}  // namespace lockstep::analyzer
