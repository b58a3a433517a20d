// Jobs that hung, with a rank whose file is cut: what does not stand in it proves nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr TimeSpan kAll{-(Nanoseconds{1} << 62) + 1, (Nanoseconds{1} << 62) - 1};

// A cut dump is no proof of what does not stand in it.
TEST(HangDamaged, OfARankWhoseDumpIsCutNobodyKnowsWhetherItCame) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond, true);
  job.dumps = Dumps::all;
  job.ranks[2].lost = {kAll};
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.title,
              HasSubstr("the dump of rank 2 is cut or damaged, and whether it came cannot be told"));
  EXPECT_THAT(found.remedy, HasSubstr("collect the dump of rank 2 again"));
  ASSERT_EQ(found.standings.size(), 2U);
  EXPECT_THAT(found.standings[1].ranks, testing::ElementsAre(2));
  EXPECT_FALSE(found.standings[1].known);
  EXPECT_TRUE(found.standings[0].known);
}

TEST(HangDamaged, TheCountersOfACutDumpTellWhoNeverCame) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond, true);
  job.dumps = Dumps::all;
  job.ranks[2].lost = {kAll};
  job.ranks[2].ending.progress = {{0, 2, 2}};
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("rank 2 never came"));
  job.ranks[2].ending.progress = {{0, 3, 2}};
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("all of its ranks are in it"));
  job.ranks[2].ending.progress = {{0, kNoSequence, kNoSequence}};  // cut in the midst of the counters
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("cannot be told"));
}

TEST(HangDamaged, WhatWasLostBeforeTheHangDoesNotExcuseARank) {
  Job job = hung_job({0, 1, 3}, 60 * kSecond, true);
  job.ranks[2].lost = {{1000 * us, 2000 * us}};
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("rank 2 never came"));
  job.ranks[2].lost = {{1000 * us, 40'000 * us}};
  EXPECT_THAT(finding(report_of(job), "hang").title, HasSubstr("the trace of rank 2 is cut or damaged"));
}

TEST(HangDamaged, ARankWhoseDumpIsCutIsToldApartFromTheOthers) {
  Job job = hung_job({0}, 60 * kSecond, true);
  job.dumps = Dumps::all;
  job.ranks[3].lost = {kAll};
  job.ranks.erase(job.ranks.begin() + 2);
  job.ranks_missing = {2};
  Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.title, HasSubstr(": rank 1 never came"));
  EXPECT_THAT(found.evidence, Contains("rank 2 left no trace, the dump of rank 3 is cut or damaged: whether "
                                       "they came cannot be told"));
  job.ranks[1].lost = {kAll};
  found = finding(report_of(job), "hang");
  EXPECT_THAT(found.title, HasSubstr("rank 2 left no trace, the dumps of ranks 1, 3 are cut or damaged"));
  EXPECT_THAT(found.remedy, HasSubstr("collect what rank 2 recorded, collect the dumps of ranks 1, 3 again"));
}

TEST(HangDamaged, WhatIsLostBehindTheLastRecordNobodyGaveUpOn) {
  Job job = job_that_gave_up();
  job.ranks[2].lost = {kAll};
  for (const Finding& found : report_of(job).findings) EXPECT_THAT(found.title, Not(HasSubstr("never came")));
}

}  // namespace
}  // namespace lockstep::analyzer
