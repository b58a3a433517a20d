// Ranks that disagree about what they do together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lockstep::analyzer
