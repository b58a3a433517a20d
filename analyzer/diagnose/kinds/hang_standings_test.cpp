// Where the ranks of a job that hung stand, in operations that no sentence tells of.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr Nanoseconds kSecond = 1'000'000'000;

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

}  // namespace
}  // namespace lockstep::analyzer
