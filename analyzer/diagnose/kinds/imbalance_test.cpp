// Waiting that no single rank is to blame for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

// The three ranks take turns in being late by 300 µs.
TEST(Findings, WaitingThatNobodyAloneIsToBlameFor) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    for (std::int32_t turn = 0; turn < 3; ++turn) {
      const Nanoseconds begin = turn * 1000 * us, late = turn == rank ? 300 * us : 0;
      job.rank(rank).compute(begin, begin + 500 * us + late).launched(begin - 2, begin - 1);
      job.rank(rank).all_reduce(begin + 500 * us + late, begin + 810 * us).launched(begin - 2, begin - 1);
    }
  }
  const Finding found = finding(report_of(job), "imbalance");
  EXPECT_THAT(found.title, HasSubstr("no single one"));
  EXPECT_EQ(found.accuses, Accused::nobody);
}

// A start-up that took rank 1 longer: the others wait for it, once.
TEST(Findings, WaitingOnceForOneRankNamesIt) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const Nanoseconds late = rank == 1 ? 5000 * us : 0;
    job.rank(rank).compute(0, 500 * us + late).launched(-2, -1);
    job.rank(rank).all_reduce(500 * us + late, 5600 * us).launched(-2, -1);
  }
  const Finding found = finding(report_of(job), "imbalance");
  EXPECT_THAT(found.title, HasSubstr("the others wait for rank 1"));
  EXPECT_EQ(found.accuses, Accused::rank);
  EXPECT_THAT(found.remedy, HasSubstr("what rank 1 did before"));
}

}  // namespace
}  // namespace lockstep::analyzer
