// Devices that wait for the next batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

TEST(Findings, DataLoading) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 100 * us).launched(-2, -1).data_loading(100 * us, 200 * us);
    job.rank(rank).compute(200 * us, 900 * us).launched(199 * us, 200 * us);
  }
  const Finding loading = finding(report_of(job), "data_loading");
  EXPECT_EQ(loading.lost_ns, 2 * 100 * us);
  EXPECT_EQ(loading.severity, "high");  // 200 of 1800 µs
  EXPECT_THAT(loading.remedy, HasSubstr("num_workers"));
}

}  // namespace
}  // namespace lockstep::analyzer
