// A rank that comes late, and others that wait for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Findings, APersistentStraggler) {
  const Report report = report_of(straggling_job(4, 2, 100));
  const Finding straggler = finding(report, "straggler_persistent");
  EXPECT_THAT(straggler.title, HasSubstr("rank 2 arrives last in 4 of 4 collectives"));
  EXPECT_EQ(straggler.lost_ns, 4 * (102 + 101 + 99) * us);
  std::int64_t windows = 0;
  for (const RankReport& rank : report.ranks) windows += rank.measures.window_ns;
  EXPECT_DOUBLE_EQ(straggler.lost_share,
                   static_cast<double>(straggler.lost_ns) / static_cast<double>(windows));
  EXPECT_THAT(straggler.evidence, Contains(HasSubstr("it computed for 402 µs")));
  EXPECT_THAT(straggler.evidence, Contains(HasSubstr("1.21 ms for it, and compute hid none of it")));
}

TEST(Findings, WaitingUnderComputeIsNoLoss) {
  JobBuilder job = straggling_job(4, 2, 100);
  for (std::int32_t rank : {0, 1, 3}) job.rank(rank).compute(0, 4000 * us, "other stream").launched(-2, -1);
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("straggler_persistent")));
}

}  // namespace
}  // namespace lockstep::analyzer
