// Groups whose list of ranks is cut in the input ("[0, 1, ...]"), and whose size it tells all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/report/text.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

// Ranks 0 and 1 of a group of `size` (0: not told) reduce 4000 bytes in 100 ns.
Report report_of_group_of(std::int32_t size) {
  JobBuilder builder;
  const std::uint32_t group = builder.group("dp", {});
  for (const std::int32_t rank : {0, 1})
    builder.rank(rank).all_reduce(0, 100).in_group(group).sequence(0).bytes(4000);
  Job job = builder.build();
  job.groups.at(group).size = size;
  return checked_analysis(job).report;
}

TEST(GroupSize, CountsWhereTheListOfRanksIsCut) {
  const Report report = report_of_group_of(4);
  ASSERT_EQ(report.collectives.size(), 1U);
  const CollectiveReport& collective = report.collectives[0];
  EXPECT_THAT(collective.group_ranks, testing::ElementsAre(0, 1));
  EXPECT_TRUE(collective.partial);
  EXPECT_DOUBLE_EQ(collective.algbw_gbps.value(), 40);
  EXPECT_DOUBLE_EQ(collective.busbw_gbps.value(), 40 * 2 * 3.0 / 4);
  EXPECT_EQ(collective.busbw_wire_gbps, std::nullopt) << "one of the others may have come last";
  TextOptions options;
  options.page.width = 160;
  EXPECT_THAT(to_text(report, options), testing::HasSubstr("\"dp\" 2 of 4 ranks"));
}

// As of a list that is cut, without a size or with one that no group has.
TEST(GroupSize, IsNotKnownOfACutListWithoutSize) {
  JobBuilder builder;
  const std::uint32_t group = builder.group("dp", {});
  for (const std::int32_t rank : {0, 1})
    builder.rank(rank).all_reduce(0, 100).in_group(group).sequence(0).bytes(4000);
  Job job = builder.build();
  job.groups.at(group).may_have_others = true;
  const Report report = checked_analysis(job).report;
  ASSERT_EQ(report.collectives.size(), 1U);
  const CollectiveReport& collective = report.collectives[0];
  EXPECT_TRUE(collective.partial);
  EXPECT_EQ(collective.group_size, 0);
  EXPECT_DOUBLE_EQ(collective.algbw_gbps.value(), 40);
  EXPECT_EQ(collective.busbw_gbps, std::nullopt);
  EXPECT_EQ(collective.busbw_wire_gbps, std::nullopt);
}

TEST(GroupSize, IsThatOfTheRanksWithRecordsWhereItIsNotTold) {
  const Report report = report_of_group_of(0);
  ASSERT_EQ(report.collectives.size(), 1U);
  const CollectiveReport& collective = report.collectives[0];
  EXPECT_FALSE(collective.partial);
  EXPECT_DOUBLE_EQ(collective.busbw_gbps.value(), 40);
}

}  // namespace
}  // namespace lockstep::analyzer
