// The last reduce-scatter of a step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/sharded_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

TEST(Sharding, TheLastScatterOfAStepHasNothingToHideBehind) {
  const Report report = report_of(sharded_job({.ahead_us = 150, .scatter_us = 80}));
  const Finding found = finding(report, "reduce_scatter_exposed");
  EXPECT_LE(found.lost_ns, 4 * 2 * 80 * us);
  EXPECT_GE(found.lost_ns, 3 * 2 * 80 * us);
  EXPECT_THAT(found.evidence.at(0), HasSubstr("of the one reduce_scatter a step"));
}

}  // namespace
}  // namespace lockstep::analyzer
