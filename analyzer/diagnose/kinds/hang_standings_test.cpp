// Where the ranks of a job that hung stand, in operations that no sentence tells of.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Each rank waits for the last one in an operation of its own: more of them than a finding tells of.
TEST(HangStandings, WhoWaitsInWhatNoSentenceTellsOfStandsSomewhereToo) {
  constexpr std::int32_t kLast = 9;
  JobBuilder builder;
  std::vector<std::uint32_t> groups;
  for (std::int32_t rank = 0; rank <= kLast; ++rank) {
    builder.rank(rank).all_reduce(0, 1000 * us);
    if (rank < kLast) groups.push_back(builder.group("with " + std::to_string(rank), {rank, kLast}));
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) {
    rank.ending.recorded_until = 100 * kSecond;
    if (rank.rank >= kLast - 1) continue;  // the last but one is in nothing, and nobody waits for it
    OpenOperation operation;
    operation.begin = 2000 * us + rank.rank;
    operation.name = job.strings.intern("all_reduce gradients");
    operation.operation = Operation::all_reduce;
    operation.sequence = 1;
    operation.group = groups[static_cast<std::size_t>(rank.rank)];
    rank.ending.operations.push_back(operation);
  }
  const Finding found = finding(report_of(job), "hang");
  std::vector<std::int32_t> waiting;
  for (const Standing& standing : found.standings) {
    if (!standing.waits) continue;
    ASSERT_EQ(standing.ranks.size(), 1U);
    waiting.push_back(standing.ranks.front());
    EXPECT_THAT(standing.where, HasSubstr(fmt::format("(group with {}, number 1)", waiting.back())));
  }
  EXPECT_THAT(waiting, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("8 operations in all")));
  EXPECT_THAT(found.evidence, Not(Contains(testing::StartsWith("rank 7"))));
}

const Standing* standing_of(const Finding& finding, std::int32_t rank) {
  for (const Standing& standing : finding.standings)
    if (std::find(standing.ranks.begin(), standing.ranks.end(), rank) != standing.ranks.end())
      return &standing;
  return nullptr;
}

// Ranks 0, 1 and 3 of one group wait for rank 2; rank 4 is of another, and rank 5 left no trace.
TEST(HangStandings, EveryRankStandsSomewhere) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond, /*noted=*/true);
  JobBuilder other;
  other.rank(4).compute(0, 10).all_reduce(10, 20);
  Job with_other = other.build();
  job.ranks.push_back(with_other.ranks.front());
  for (Activity& activity : job.ranks.back().activities) activity.name = job.strings.intern("all_reduce");
  job.ranks_missing = {5};
  job.world_size = 6;
  const Finding found = finding(report_of(job), "hang");
  for (const std::int32_t rank : {0, 1, 3}) {
    ASSERT_NE(standing_of(found, rank), nullptr);
    EXPECT_TRUE(standing_of(found, rank)->waits) << rank;
  }
  ASSERT_NE(standing_of(found, 2), nullptr);
  EXPECT_FALSE(standing_of(found, 2)->waits || standing_of(found, 2)->elsewhere) << "the one that never came";
  ASSERT_NE(standing_of(found, 4), nullptr);
  EXPECT_TRUE(standing_of(found, 4)->elsewhere);
  ASSERT_NE(standing_of(found, 5), nullptr);
  EXPECT_FALSE(standing_of(found, 5)->known);
}

// Of dumps that tell no times: no operation that ended has a record. Rank 2 is not in the fourth all-reduce,
// and rank 4 has nothing to do with it.
Job job_without_times() {
  Job job = hung_job({0, 1, 3}, 60 * kSecond, /*noted=*/true);
  job.dumps = Dumps::all;
  job.ranks.push_back(job.ranks[2]);
  job.ranks.back().rank = 4;
  for (RankTrace& rank : job.ranks) {
    rank.activities.clear();
    rank.communications.clear();
    rank.computations.clear();
  }
  return job;
}

TEST(HangStandings, WhatEndedNobodyKnowsWhenIsSomethingThatARankDid) {
  Job job = job_without_times();
  Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence, Contains("rank 2 recorded nothing of what it did"));
  EXPECT_EQ(standing_of(found, 4)->where, "recorded nothing of what it did");
  for (const std::size_t rank : {2U, 4U})
    job.ranks[rank].ending.last_ended = {job.strings.intern("gloo:broadcast"), 0, 2, false};
  found = finding(report_of(job), "hang");
  EXPECT_THAT(found.title, HasSubstr("rank 2 never came"));
  EXPECT_THAT(found.evidence, Contains("rank 2 ended gloo:broadcast number 2 before"));
  EXPECT_EQ(standing_of(found, 4)->where, "ended gloo:broadcast number 2 before");
  // The last that ended may be of another group.
  job.ranks[2].ending.progress = {{0, 2, 2}};
  EXPECT_THAT(finding(report_of(job), "hang").evidence,
              Contains("rank 2 ended gloo:broadcast number 2 before; issued number 2 of this group last"));
}

TEST(HangStandings, WhatARankCountedIsSomethingThatItDid) {
  Job job = job_without_times();
  for (const std::size_t rank : {2U, 4U}) job.ranks[rank].ending.progress = {{0, 2, 2}};
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence, Contains("rank 2 issued number 2 of this group last"));
  EXPECT_EQ(standing_of(found, 4)->where, "came to number 2 of group data parallel last");
}

TEST(HangStandings, AFindingLeadsToWhereTheFirstRankWaits) {
  const Job job = hung_job({1, 3}, 60 * kSecond, /*noted=*/true);
  const Report report = report_of(job);
  const std::optional<FindingPlace> place = finding(report, "hang").place;
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->begin_ns, 36'000 * us + 1 - report.origin_aligned_ns);
  EXPECT_EQ(place->end_ns - place->begin_ns, 60 * kSecond - 1);
}

TEST(HangStandings, WhoStandsInAnEarlierOperationOrHasNotBegunItDoesNotWaitInIt) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond, /*noted=*/true);
  for (RankTrace& rank : job.ranks) rank.device = "cuda:0";
  EXPECT_THAT(finding(report_of(job), "hang").evidence, Contains(HasSubstr("ranks 0, 1, 3 wait in it")));
  job.ranks[3].ending.operations.front().begun = false;
  Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence, Contains(HasSubstr("ranks 0, 1 wait in it")));
  EXPECT_THAT(found.evidence, Contains("rank 3 has issued it, and its device has not come to it"));
  ASSERT_NE(standing_of(found, 3), nullptr);
  EXPECT_FALSE(standing_of(found, 3)->waits);
  // On a CPU an operation runs on a thread of its own.
  for (RankTrace& rank : job.ranks) rank.device = "cpu";
  EXPECT_THAT(finding(report_of(job), "hang").evidence, Contains(HasSubstr("ranks 0, 1, 3 wait in it")));
}

}  // namespace
}  // namespace lockstep::analyzer
