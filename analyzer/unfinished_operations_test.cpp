// An operation that a rank never came to: all of it is waiting, nothing was transferred, and the report says
// so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/report/text.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::ContainsRegex;
using testing::Not;

// Three ranks. They leave the first all-reduce together, rank 2 100 ms late; to the second rank 2 never came,
// and the others left it after 20 s.
Report report_of_unfinished() {
  constexpr Nanoseconds kMs = 1'000'000;
  JobBuilder builder;
  const std::uint32_t group = builder.group("dp", {0, 1, 2});
  for (const int rank : {0, 1, 2}) {
    builder.rank(rank)
        .all_reduce(rank == 2 ? 100 * kMs : 0, 200 * kMs)
        .in_group(group)
        .sequence(0)
        .bytes(8'000'000);
    if (rank == 2) continue;
    builder.rank(rank)
        .all_reduce((300 + 50 * rank) * kMs, 20'000 * kMs)
        .in_group(group)
        .sequence(1)
        .bytes(8'000'000);
  }
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.closed = true;
  return checked_analysis(job).report;
}

TEST(UnfinishedOperations, AreWaitingAndHaveNoBandwidth) {
  const Report report = report_of_unfinished();
  ASSERT_EQ(report.collectives.size(), 2U);
  const CollectiveReport &whole = report.collectives[0], &unfinished = report.collectives[1];
  EXPECT_FALSE(whole.unfinished);
  EXPECT_TRUE(whole.algbw_gbps && whole.busbw_gbps && whole.busbw_wire_gbps);
  EXPECT_EQ(whole.last_arriver, 2);
  EXPECT_TRUE(unfinished.unfinished);
  EXPECT_EQ(unfinished.bytes, 8'000'000);
  EXPECT_FALSE(unfinished.algbw_gbps || unfinished.busbw_gbps || unfinished.busbw_wire_gbps);
  EXPECT_FALSE(unfinished.last_arriver || unfinished.last_arriver_margin_ns);
  ASSERT_EQ(unfinished.ranks.size(), 2U);
  for (const CollectiveRank& rank : unfinished.ranks) {
    EXPECT_EQ(rank.wait_ns, rank.end_ns - rank.arrival_ns) << rank.rank;
    EXPECT_EQ(rank.transfer_ns, 0) << rank.rank;
  }
}

TEST(UnfinishedOperations, AreSaidSoInTheTable) {
  TextOptions options;
  options.page.width = 160;
  const std::string text = to_text(report_of_unfinished(), options);
  // Waited, last arriver, spread, transfer, size, bandwidth.
  EXPECT_THAT(text, ContainsRegex("#1 +all_reduce .* 39.4 s +not all came +50.0 ms +0 +8.00 MB +–"));
  EXPECT_THAT(text, ContainsRegex("#0 +all_reduce .* rank 2 by 100 ms .* GB/s"));
  EXPECT_THAT(text, Not(ContainsRegex("#0 +all_reduce .*not all came")));
}

}  // namespace
}  // namespace lockstep::analyzer
