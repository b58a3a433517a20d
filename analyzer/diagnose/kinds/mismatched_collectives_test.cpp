// Ranks that disagree about what they do together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

TEST(Findings, MismatchedCollectivesAreNamedWithBothSides) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  job.rank(0).all_reduce(0, 90).in_group(dp).sequence(3).bytes(400).of(DataType::float32);
  job.rank(1).all_reduce(1, 90).in_group(dp).sequence(3).bytes(400).of(DataType::bfloat16);
  const Finding mismatch = finding(report_of(job), "mismatched_collectives");
  EXPECT_THAT(mismatch.evidence,
              ElementsAre("group dp, sequence number 3: rank 0 all_reduce of 400 B float32, rank 1 "
                          "all_reduce of 400 B bfloat16"));
}

// Two ranks that call the same four operations, two of them the other way round.
TEST(Findings, CollectivesInDifferentOrderAreSaidToBeThat) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  const int order[2][4] = {{100, 200, 300, 400}, {100, 300, 200, 400}};
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    for (int k = 0; k < 4; ++k)
      job.rank(rank).all_reduce(k * 100 * us, (k * 100 + 90) * us).in_group(dp).bytes(order[rank][k]);
  }
  const Report report = report_of(job);
  ASSERT_FALSE(report.findings.empty());
  // First, whatever was lost: such a job hangs or computes nonsense.
  EXPECT_EQ(report.findings[0].code, "mismatched_collectives");
  EXPECT_THAT(report.findings[0].title, testing::HasSubstr("in different order"));
  EXPECT_THAT(report.findings[0].remedy, testing::HasSubstr("same order on every rank"));
}

// What a rank does as number 5 of the group, after the numbers 0 to 4 that all did alike, one in each step.
struct Last {
  std::int64_t bytes = 4;
  bool open = false;
  Operation operation = Operation::all_reduce;
  std::int64_t number = 5;
};

Job job_that_failed_in(const std::vector<Last>& lasts) {
  JobBuilder builder;
  std::vector<std::int32_t> members;
  for (std::int32_t rank = 0; rank < std::ssize(lasts); ++rank) members.push_back(rank);
  const std::uint32_t group = builder.group("dp", members);
  for (const std::int32_t rank : members) {
    const Last& last = lasts[static_cast<std::size_t>(rank)];
    for (int k = 0; k < 5; ++k) {
      const Nanoseconds begin = k * 1000 * us;
      builder.rank(rank).step(k, begin, begin + 900 * us);
      builder.rank(rank).all_reduce(begin, begin + 500 * us).in_group(group).sequence(k).bytes(3456);
    }
    if (last.open) continue;
    builder.rank(rank).collective(last.operation, 5000 * us, 5100 * us).in_group(group);
    builder.rank(rank).sequence(last.number).bytes(last.bytes);
  }
  Job job = builder.build();
  for (std::size_t rank = 0; rank < lasts.size(); ++rank) {
    job.ranks[rank].ending.recorded_until = 5200 * us;
    if (!lasts[rank].open) continue;
    OpenOperation open;
    open.begin = 5000 * us;
    open.operation = lasts[rank].operation;
    open.name = job.strings.intern(trace::to_string(open.operation));
    open.group = group;
    open.sequence = lasts[rank].number;
    open.bytes = lasts[rank].bytes;
    job.ranks[rank].ending.operations.push_back(open);
  }
  job.end.exit_code = 1;
  return job;
}

// Gloo ends a job at once when sizes differ: rank 0 left its loss behind, rank 1 is in the next step's
// gradient.
TEST(Findings, AnOperationThatNeverEndedIsComparedWithTheRecordOfItsNumber) {
  const Report report = report_of(job_that_failed_in({{4, true}, {3456, false}}));
  ASSERT_GE(report.findings.size(), 2U);
  const Finding& mismatch = report.findings[0];
  EXPECT_EQ(mismatch.code, "mismatched_collectives");
  EXPECT_EQ(mismatch.title, "ranks disagree about an operation that they do together");
  EXPECT_THAT(mismatch.evidence,
              ElementsAre("group dp, sequence number 5, after step 4: rank 0 all_reduce of 4 B, which never "
                          "ended; rank 1 all_reduce of 3456 B"));
  EXPECT_THAT(mismatch.remedy, testing::HasSubstr("left an operation out"));
  EXPECT_EQ(report.findings[1].code, "job_failed");
}

TEST(Findings, OperationsThatNeverEndedAreComparedWithEachOther) {
  const Report report = report_of(job_that_failed_in({{4, true}, {3456, true}, {3456, true}}));
  EXPECT_THAT(finding(report, "mismatched_collectives").evidence,
              ElementsAre("group dp, sequence number 5, after step 4: rank 0 all_reduce of 4 B, which never "
                          "ended; ranks 1, 2 all_reduce of 3456 B, which never ended"));
  const Report other = report_of(job_that_failed_in({{4, true, Operation::broadcast}, {4, false}}));
  EXPECT_THAT(finding(other, "mismatched_collectives").evidence,
              ElementsAre("group dp, sequence number 5, after step 4: rank 0 broadcast of 4 B, which never "
                          "ended; rank 1 all_reduce of 4 B"));
}

TEST(Findings, WhatNeverEndedAndAgreesOrMayDifferIsNoMismatch) {
  const auto codes = [](const std::vector<Last>& lasts, const auto& change) {
    Job job = job_that_failed_in(lasts);
    change(job);
    return codes_of(report_of(job).findings);
  };
  const auto nothing = [](Job&) {};
  const auto none = testing::Not(testing::Contains("mismatched_collectives"));
  EXPECT_THAT(codes({{4, true}, {4, false}}, nothing), none);
  EXPECT_THAT(codes({{4, true}, {4, true}}, nothing), none);
  EXPECT_THAT(codes({{-1, true}, {4, false}}, nothing), none) << "a size that is not known";
  EXPECT_THAT(codes({{4, true}, {3456, false, Operation::all_reduce, 6}}, nothing), none) << "another number";
  EXPECT_THAT(codes({{4, true, Operation::all_gather}, {8, false, Operation::all_gather}}, nothing), none)
      << "uneven gathers";
  EXPECT_THAT(codes({{4, true}, {3456, false}},
                    [](Job& job) { job.ranks[0].ending.operations[0].sequence = kNoSequence; }),
              none);
  EXPECT_THAT(codes({{4, true}, {3456, true}},
                    [](Job& job) {
                      std::vector<OpenOperation>& open = job.ranks[1].ending.operations;
                      open.push_back(open.front());
                      open.back().bytes = 4;
                    }),
              none)
      << "a coalesced call: several under one number";
}

// The finding of the hang says it, with who waits for how long.
TEST(Findings, WhatAHangSaysOfItIsNotSaidAgain) {
  Job job = job_that_failed_in({{4, true}, {3456, true}});
  for (RankTrace& rank : job.ranks) {
    rank.ending.hang_noted = 60'000'000 * us;
    rank.ending.recorded_until = 61'000'000 * us;
  }
  const std::vector<std::string> codes = codes_of(report_of(job).findings);
  EXPECT_THAT(codes, testing::Contains("hang"));
  EXPECT_THAT(codes, testing::Not(testing::Contains("mismatched_collectives")));
}

}  // namespace
}  // namespace lockstep::analyzer
