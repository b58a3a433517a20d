// A device that stands still.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Hang, ADeviceThatHasNotEndedWhatAllOthersHaveStandsStill) {
  Job job = hung_job({1}, 60 * kSecond, true);
  for (RankTrace& rank : job.ranks) rank.device = "cuda:0";
  job.ranks[1].ending.operations.push_back(job.ranks[1].ending.operations[0]);
  job.ranks[1].ending.operations[1].sequence = 4;
  for (const std::size_t rank : {0U, 2U, 3U}) job.ranks[rank].ending.progress = {{0, 4, 4}};
  const Finding found = finding(report_of(job), "device_stuck");
  EXPECT_EQ(found.title, "the device of rank 1 stands still");
  EXPECT_THAT(found.evidence, Contains(HasSubstr("rank 1 has not ended all_reduce gradients")));
  ASSERT_EQ(found.standings.size(), 1U);
  EXPECT_THAT(found.standings[0].ranks, testing::ElementsAre(1));
  EXPECT_FALSE(found.standings[0].waits);
  job.ranks[2].ending.progress = {{0, 4, 3}};  // another is still in it
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("device_stuck")));
  job.ranks[2].ending.progress = {{0, 4, 4}};
  job.ranks[1].ending.operations[0].operation = Operation::broadcast;  // its root need not wait
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("device_stuck")));
  job.ranks[1].ending.operations[0].operation = Operation::all_reduce;
  job.ranks[1].device = "cpu";
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("device_stuck")));
  job.ranks[1].device = "cuda:0";
  EXPECT_THAT(codes_of(report_of(job).findings), Contains("device_stuck"));
  for (RankTrace& rank : job.ranks) rank.ending.hang_noted = kUnknownTime;  // killed while the others went on
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("device_stuck")));
}

}  // namespace
}  // namespace lockstep::analyzer
