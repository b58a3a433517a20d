// Jobs that hung, hand-made: which operation, who waits, who is missing; and jobs that only ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Hang, NamesTheOperationAndWhoNeverCame) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond);
  RankTrace& missing = job.ranks[2];
  missing.ending.ranges = {job.strings.intern("epoch"), job.strings.intern("next batch")};
  missing.ending.doing = "next_batch in loader.py:12";
  const Report report = report_of(job);
  ASSERT_FALSE(report.findings.empty());
  const Finding& found = report.findings.front();  // before all others
  EXPECT_EQ(found.code, "hang");
  EXPECT_EQ(found.severity, "high");
  EXPECT_EQ(found.title,
            "the job hung in all_reduce gradients (group data parallel, number 3): rank 2 never came");
  EXPECT_THAT(found.evidence, Contains("ranks 0, 1, 3 wait in it, the first for 60.0 s"));
  EXPECT_THAT(found.evidence, Contains("rank 2 is in \"next batch\"; ended all_reduce number 2 before; its "
                                       "stack: next_batch in loader.py:12"));
  EXPECT_THAT(found.remedy, HasSubstr("hang-rank-2.json"));
  ASSERT_EQ(found.standings.size(), 2U);
  EXPECT_THAT(found.standings[0].ranks, testing::ElementsAre(0, 1, 3));
  EXPECT_TRUE(found.standings[0].waits);
  EXPECT_EQ(found.standings[0].where, "all_reduce gradients (group data parallel, number 3)");
  EXPECT_THAT(found.standings[1].ranks, testing::ElementsAre(2));
  EXPECT_FALSE(found.standings[1].waits);
  EXPECT_THAT(found.standings[1].where, testing::StartsWith("is in \"next batch\""));
}

// A sentence names the first few; each rank stands somewhere all the same.
TEST(Hang, AllOfManyRanksStandSomewhere) {
  JobBuilder builder;
  std::vector<std::int32_t> all(20);
  std::iota(all.begin(), all.end(), 0);
  const std::uint32_t group = builder.group("data parallel", all);
  for (const std::int32_t rank : all) builder.rank(rank).all_reduce(0, 1000 * us).in_group(group).sequence(0);
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) {
    rank.ending.recorded_until = 100 * kSecond;
    if (rank.rank == 19) continue;
    OpenOperation operation;
    operation.begin = 2000 * us;
    operation.name = job.strings.intern(std::string(200'000, 'x'));  // as long as a name may be
    operation.operation = Operation::all_reduce;
    operation.sequence = 1;
    operation.group = group;
    rank.ending.operations.push_back(operation);
  }
  const Finding found = finding(report_of(job), "hang");
  ASSERT_EQ(found.standings.size(), 2U);
  EXPECT_EQ(found.standings[0].ranks.size(), 19U);
  EXPECT_THAT(found.standings[1].ranks, testing::ElementsAre(19));
}

TEST(Hang, AllRanksInItIsTheNetworksBusiness) {
  const Report report = report_of(hung_job({0, 1, 2, 3}, 60 * kSecond));
  EXPECT_THAT(finding(report, "hang").title, HasSubstr("all of its ranks are in it"));
  EXPECT_THAT(finding(report, "hang").remedy, HasSubstr("network"));
}

// Its file may only have been forgotten: nobody is accused of what nobody knows.
TEST(Hang, OfARankWithoutATraceNobodyKnowsWhetherItCame) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond);
  job.ranks.erase(job.ranks.begin() + 2);
  job.ranks_missing = {2};
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.title, HasSubstr("rank 2 left no trace, and whether it came cannot be told"));
  EXPECT_THAT(found.remedy, HasSubstr("collect what rank 2 recorded"));
  ASSERT_EQ(found.standings.size(), 2U);
  EXPECT_THAT(found.standings[1].ranks, testing::ElementsAre(2));
}

TEST(Hang, WhoNeverCameIsToldApartFromWhoLeftNoTrace) {
  Job job = hung_job({0}, 60 * kSecond);
  job.ranks.erase(job.ranks.begin() + 2);
  job.ranks_missing = {2};
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.title, HasSubstr(": ranks 1, 3 never came"));
  EXPECT_THAT(found.evidence, Contains("rank 2 left no trace: whether it came cannot be told"));
}

// An operation that another rank has ended hung on one device: all had come, and the next one is it.
TEST(Hang, WhatIsEndedElsewhereLacksNobody) {
  Job job = hung_job({0, 1, 2}, 60 * kSecond, true);
  job.dumps = Dumps::all;
  job.ranks[1].ending.operations[0].sequence = 4;
  job.ranks[2].ending.operations[0].sequence = 4;
  job.ranks[1].ending.progress = {{0, 4, 3}};
  job.ranks[2].ending.progress = {{0, 4, 3}};
  job.ranks.erase(job.ranks.begin() + 3);
  job.ranks_missing = {3};
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.title, HasSubstr("number 4)"));
}

TEST(Hang, DumpsInWhichNothingIsOpenShowNone) {
  Job job = hung_job({}, 60 * kSecond, true);
  EXPECT_THAT(codes_of(report_of(job).findings), Contains("hang"));
  job.dumps = Dumps::all;
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("hang")));
}

TEST(Hang, AJobThatWasKilledInAnOperationDidNotHang) {
  EXPECT_THAT(codes_of(report_of(hung_job({0, 1, 3}, kSecond)).findings), Not(Contains("hang")));
  // Long, but others took nearly as long.
  Job slow = hung_job({0, 1, 3}, 6 * kSecond);
  for (RankTrace& rank : slow.ranks) rank.activities[1].end += kSecond;
  for (RankTrace& rank : slow.ranks)
    for (std::size_t i = 2; i < rank.activities.size(); ++i) {
      rank.activities[i].begin += kSecond;
      rank.activities[i].end += kSecond;
    }
  EXPECT_THAT(codes_of(report_of(slow).findings), Not(Contains("hang")));
}

TEST(Hang, WhatTheRecorderNotedCountsHoweverShort) {
  EXPECT_THAT(codes_of(report_of(hung_job({0, 1, 3}, kSecond, true)).findings), Contains("hang"));
}

TEST(Hang, SilenceWithoutAnOperationIsOneToo) {
  Job job = hung_job({}, kSecond, true);
  for (RankTrace& rank : job.ranks) rank.ending.doing = "next_batch in loader.py:12";
  const Finding found = finding(report_of(job), "hang");
  EXPECT_EQ(found.title,
            "the job hung: ranks 0, 1, 2, 3 ended no step and no operation any more, and are in none");
  EXPECT_THAT(found.evidence,
              Contains(HasSubstr("rank 2 ended all_reduce number 2 before; its stack: next_batch")));
  // It went on afterwards.
  for (RankTrace& rank : job.ranks) rank.ending.hang_noted = 10;
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("hang")));
}

TEST(Hang, AMessageWaitsForItsPeer) {
  Job job = hung_job({1}, 60 * kSecond);
  job.ranks[1].ending.operations[0].operation = Operation::recv;
  job.ranks[1].ending.operations[0].peer = 0;
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("rank 0 never came"));
}

TEST(Unrecorded, TimeIsInNoFigure) {
  JobBuilder builder;
  for (const Nanoseconds begin : {Nanoseconds{0}, 10'000 * us}) {
    builder.rank(0).step(begin == 0 ? 0 : 9, begin, begin + 900 * us);
    builder.rank(0).compute(begin, begin + 400 * us).launched(begin, begin + 1);
    builder.rank(0).compute(begin + 500 * us, begin + 900 * us).launched(begin + 1, begin + 2);
  }
  Job job = builder.build();
  const std::int64_t with_the_gap = report_of(job).ranks.at(0).measures.window_ns;
  EXPECT_EQ(with_the_gap, 10'900 * us);
  job.ranks[0].unrecorded = {{890 * us, 9990 * us}};  // the last computation ran on into it
  const Report report = report_of(job);
  const Measures& measures = report.ranks.at(0).measures;
  EXPECT_EQ(measures.window_ns, 900 * us + 10 * us + 900 * us);
  EXPECT_EQ(measures.compute_ns, 4 * 400 * us);
  std::int64_t sum = 0;
  for (const std::int64_t ns : measures.partition.ns) sum += ns;
  EXPECT_EQ(sum, measures.window_ns);
  // The step before the gap ends with what it did, not with the next step that was recorded.
  ASSERT_EQ(report.steps.size(), 2U);
  EXPECT_EQ(report.steps[0].measures.window_ns, 900 * us);
  EXPECT_THAT(codes_of(report.warnings), Contains("not_recorded"));
}

// Ranks that were silent when the recorder looked, and then ended by themselves, had something else to do.
TEST(Hang, ASilenceThatEndedIsNone) {
  Job job = hung_job({}, kSecond, true);
  for (RankTrace& rank : job.ranks) rank.ending.operations.clear();
  EXPECT_THAT(codes_of(report_of(job).findings), Contains("hang"));
  for (RankTrace& rank : job.ranks) rank.ending.closed = true;
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("hang")));
}

TEST(Hang, RanksInDifferentOperationsAreSaidToDisagree) {
  Job job = hung_job({0, 1, 2, 3}, 60 * kSecond);
  OpenOperation& other = job.ranks[2].ending.operations[0];
  other.operation = Operation::barrier;
  other.name = job.strings.intern("barrier");
  job.ranks[2].ending.doing = "train.py:30 in main";
  const Finding found = finding(report_of(job), "hang");
  EXPECT_EQ(found.title,
            "the job hung in different operations (group data parallel, number 3): ranks 0, 1, 3 in "
            "all_reduce, rank 2 in barrier");
  // Of each what it is in itself: only one number is common to them.
  EXPECT_THAT(found.evidence, Contains("ranks 0, 1, 3 wait in all_reduce gradients, the first for 60.0 s"));
  EXPECT_THAT(found.evidence, Contains("rank 2 waits in barrier for 60.0 s"));
  EXPECT_THAT(found.evidence, Not(Contains(HasSubstr("ranks 0, 1, 2, 3"))));
  ASSERT_EQ(found.standings.size(), 2U);
  EXPECT_THAT(found.standings[0].ranks, testing::ElementsAre(0, 1, 3));
  EXPECT_EQ(found.standings[0].where, "all_reduce gradients (group data parallel, number 3)");
  EXPECT_THAT(found.standings[1].ranks, testing::ElementsAre(2));
  EXPECT_EQ(found.standings[1].where, "barrier (group data parallel, number 3)");
  EXPECT_THAT(found.evidence, Contains("rank 2's stack: train.py:30 in main"));
  EXPECT_THAT(found.remedy, HasSubstr("out of step"));
  EXPECT_THAT(found.remedy, Not(HasSubstr("network")));
}

// Seen of PowerSGD on Gloo: two ranks of one host, and "look at the network".
TEST(Hang, WhereAllAreInItOnOneHostNoNetworkIsToBlame) {
  Job job = hung_job({0, 1, 2, 3}, 60 * kSecond);
  for (RankTrace& rank : job.ranks) rank.host = "node0";
  EXPECT_THAT(finding(report_of(job), "hang").remedy, HasSubstr("no network is between them"));
  job.ranks[3].host = "node1";
  EXPECT_THAT(finding(report_of(job), "hang").remedy, HasSubstr("look at the network and the driver"));
}

TEST(Hang, WhatIsNotKnownOfAnOperationIsNoDisagreement) {
  Job job = hung_job({0, 1, 2, 3}, 60 * kSecond);
  job.ranks[2].ending.operations[0].operation = Operation::unknown;
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("all of its ranks are in it"));
  job.ranks[2].ending.operations[0].operation = Operation::barrier;
  for (RankTrace& rank : job.ranks) rank.ending.operations[0].sequence = kNoSequence;
  EXPECT_THAT(finding(report_of(job), "hang").title, Not(HasSubstr("different operations")));
}

TEST(Hang, ACollectiveThatTheOthersGaveUpIsNamed) {
  const Finding found = finding(report_of(job_that_gave_up()), "hang");
  EXPECT_EQ(found.title, "the job hung in all_reduce (group data parallel, number 3): rank 2 never came");
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(finding(report_of(hung_job({0, 3}, 60 * kSecond)), "hang").rank, std::nullopt)
      << "two are missing";
  EXPECT_THAT(found.evidence, Contains("ranks 0, 1, 3 waited in it, the first for 12.0 s, and gave up"));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("its stack: evaluate in train.py:5")));
}

TEST(Hang, WithoutANotedHangGivingUpIsNone) {
  Job job = job_that_gave_up();
  for (RankTrace& rank : job.ranks) rank.ending.hang_noted = kUnknownTime;
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("hang")));
}

OpenOperation message(Operation operation, std::int32_t peer, Nanoseconds begin) {
  OpenOperation open;
  open.begin = begin;
  open.operation = operation;
  open.peer = peer;
  open.sequence = 100 * peer + begin;  // counts all messages of the rank
  open.group = 0;
  return open;
}

// Between two ranks sends meet receives in order, whatever their numbers: of rank 0's two the first is met.
TEST(Hang, OfSeveralMessagesTheOneThatIsNotMetIsNamed) {
  Job job = hung_job({}, 60 * kSecond, true);
  job.ranks[0].ending.operations = {message(Operation::send, 1, 10), message(Operation::send, 1, 20)};
  job.ranks[1].ending.operations = {message(Operation::recv, 0, 15)};
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.title, HasSubstr("rank 1 never came"));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("rank 0 waits in it")));
  EXPECT_THAT(found.evidence, Contains("rank 0 waits in send to rank 1; rank 1 waits in recv from rank 0 "
                                       "(group data parallel)"))
      << "the first, which is met";
  job.ranks[1].ending.operations.push_back(message(Operation::recv, 0, 25));
  EXPECT_EQ(finding(report_of(job), "hang").title,
            "the job hung in a message from rank 0 to rank 1 (group data parallel): both of its ranks are in "
            "it");
}

// Rank 0 waits for rank 1, rank 1 for rank 2: rank 2 holds up both, whoever came first.
TEST(Hang, WhoWaitsIsNotWhoHoldsUp) {
  Job job = hung_job({}, 60 * kSecond, true);
  job.ranks[0].ending.operations = {message(Operation::recv, 1, 10)};
  job.ranks[1].ending.operations = {message(Operation::recv, 2, 20)};
  std::vector<Finding> hangs;
  for (const Finding& found : report_of(job).findings)
    if (found.code == "hang") hangs.push_back(found);
  ASSERT_EQ(hangs.size(), 1U);
  EXPECT_THAT(hangs[0].title, HasSubstr("rank 2 never came"));
}

TEST(Hang, RanksThatHoldUpOthersEachHaveAFindingOfTheirOwn) {
  Job job = hung_job({}, 60 * kSecond, true);
  job.ranks[0].ending.operations = {message(Operation::recv, 2, 10)};
  job.ranks[1].ending.operations = {message(Operation::recv, 3, 20)};
  std::vector<std::string> titles;
  for (const Finding& found : report_of(job).findings)
    if (found.code == "hang") titles.push_back(found.title);
  EXPECT_THAT(titles, testing::ElementsAre(HasSubstr("rank 2 never came"), HasSubstr("rank 3 never came")));
}

TEST(Hang, ARankWithoutATraceIsNotBlamedBesideOneThatHasOne) {
  Job job = hung_job({}, 60 * kSecond, true);
  job.ranks[0].ending.operations = {message(Operation::recv, 2, 10)};
  job.ranks[1].ending.operations = {message(Operation::recv, 3, 20)};
  job.ranks.pop_back();
  job.ranks_missing = {3};
  std::vector<std::string> titles;
  for (const Finding& found : report_of(job).findings)
    if (found.code == "hang") titles.push_back(found.title);
  EXPECT_THAT(titles, testing::ElementsAre(HasSubstr("rank 2 never came")));
}

// Rank 3 counts what it issued, and no longer holds it.
TEST(Hang, WhatARankHasCountedItCameTo) {
  Job job = hung_job({0, 1, 2}, 60 * kSecond, true);
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("rank 3 never came"));
  job.ranks[3].ending.progress = {{0, 3, 2}};
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("all of its ranks are in it"));
  job.ranks[3].ending.progress = {{0, kNoSequence, 3}};  // of a cut dump, that does not tell the last
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("all of its ranks are in it"));
  job.ranks[3].ending.progress = {{0, 2, 2}};
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("rank 3 never came"));
}

// The trace of rank 0 ended before it could see the end of its last operation but one.
TEST(Hang, AnEndThatWasNotSeenDoesNotHideWhoNeverCame) {
  Job job = hung_job({0}, 60 * kSecond, true);
  job.ranks[0].ending.operations.push_back(job.ranks[0].ending.operations[0]);
  job.ranks[0].ending.operations[1].sequence = 4;
  for (const std::size_t rank : {1U, 2U, 3U}) job.ranks[rank].ending.progress = {{0, 3, 3}};
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("number 4): ranks 1, 2, 3 never came"));
}

TEST(Hang, WhereNoEndsAreToldOnlyAnAbsenceMakesAHang) {
  Job job = hung_job({0, 1, 2, 3}, 60 * kSecond, true);
  for (RankTrace& rank : job.ranks) rank.ending.operations[0].may_have_ended = true;
  for (RankTrace& rank : job.ranks) rank.ending.closed = true;
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("hang")));
  job.ranks[2].ending.operations.clear();
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("rank 2 never came"));
}

TEST(Hang, WhereNobodyKnowsWhenTheRecordingEndedNoWaitIsTold) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond, true);
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = kUnknownTime;
  EXPECT_THAT(finding(report_of(job), "hang").evidence, Contains("ranks 0, 1, 3 wait in it"));
}

}  // namespace
}  // namespace lockstep::analyzer
