// Jobs that hung in groups whose ranks nobody names: one that left nothing may be the one that never came.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// As of dumps without pg_config: the group's ranks are those that told of it.
Job job_of_unnamed_ranks(const std::vector<std::int32_t>& stuck) {
  Job job = hung_job(stuck, 60 * kSecond, /*noted=*/true);
  job.dumps = Dumps::all;
  job.groups[0].may_have_others = true;
  return job;
}

TEST(HangMembers, ThatAllAreInItIsNotSaidWhereThereMayBeOthers) {
  const Finding found = finding(report_of(job_of_unnamed_ranks({0, 1, 2, 3})), "hang");
  EXPECT_EQ(
      found.title,
      "the job hung in all_reduce gradients (group data parallel, number 3): all ranks that are known of "
      "its group are in it, and it may have others");
  EXPECT_THAT(found.remedy, HasSubstr("see that the dumps of all ranks are here"));
  EXPECT_THAT(found.remedy, Not(HasSubstr("every rank has issued it")));
}

TEST(HangMembers, WhoNeverCameMayNotBeTheOnlyOne) {
  const Finding found = finding(report_of(job_of_unnamed_ranks({0, 1, 3})), "hang");
  EXPECT_THAT(found.title, HasSubstr("rank 2 never came"));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("which ranks the group has is not told")));
  EXPECT_THAT(finding(report_of(hung_job({0, 1, 3}, 60 * kSecond)), "hang").evidence,
              Not(Contains(HasSubstr("is not told"))));
}

// A communicator whose size is told and whose ranks are not, or not all.
TEST(HangMembers, AGroupIsAsLargeAsItsSize) {
  Job job = hung_job({0, 1, 2, 3}, 60 * kSecond);
  job.groups[0].size = 8;
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("it may have others"));
  job.groups[0].ranks = {};
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("it may have others"));
  for (RankTrace& rank : job.ranks) rank.ending.operations[0].group = kNone;
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("it may have others"));
}

}  // namespace
}  // namespace lockstep::analyzer
