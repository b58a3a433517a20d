// Hosts whose clocks tell too little.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Findings, ClocksTooUncertainToNameAnyone) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 10 * us).all_reduce((100 + 50 * rank) * us, 200 * us);
    job.rank(rank).trace().host = rank == 0 ? "a" : "b";
    job.rank(rank).trace().clock.uncertainty_ns = 100 * us;
  }
  EXPECT_THAT(codes_of(report_of(job).findings), Contains("clock_uncertain"));
}

// Files of PyTorch's profiler say nothing of hosts.
TEST(Findings, ClocksTooUncertainWhereNoFileNamesAHost) {
  for (const bool own_clocks : {false, true}) {
    JobBuilder job;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      job.rank(rank).compute(0, 10 * us).all_reduce((100 + 50 * rank) * us, 200 * us);
      job.rank(rank).trace().clock.domain = own_clocks ? static_cast<std::uint32_t>(rank) : 0;
      job.rank(rank).trace().clock.uncertainty_ns = 100 * us;
    }
    const Report report = report_of(job);
    if (!own_clocks) {
      EXPECT_THAT(codes_of(report.findings), Not(Contains("clock_uncertain")));
      continue;
    }
    EXPECT_THAT(finding(report, "clock_uncertain").evidence,
                Contains(HasSubstr("2 ranks on 2 clocks, known to ± 100 µs")));
  }
}

}  // namespace
}  // namespace lockstep::analyzer
