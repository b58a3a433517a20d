// Hosts whose clocks tell too little.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;

TEST(Findings, ClocksTooUncertainToNameAnyone) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 10 * us).all_reduce((100 + 50 * rank) * us, 200 * us);
    job.rank(rank).trace().host = rank == 0 ? "a" : "b";
    job.rank(rank).trace().clock.uncertainty_ns = 100 * us;
  }
  EXPECT_THAT(codes_of(report_of(job).findings), Contains("clock_uncertain"));
}

}  // namespace
}  // namespace lockstep::analyzer
