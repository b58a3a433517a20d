#include "analyzer/import/rank/one_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/import/rank/merge.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kDay = 24 * std::int64_t{3'600'000'000'000};
constexpr std::int64_t kSomeDay = 1'700'000'000'000'000'000;

RankImport file_of(std::int32_t rank, const std::string& source, std::int64_t realtime = kSomeDay) {
  RankImport import;
  import.trace.rank = rank;
  import.rank_known = true;
  import.source = source;
  import.is_dump = source == "flight recorder";
  import.trace.file = source + "-" + std::to_string(rank);
  import.realtime_of_zero = realtime;
  import.trace.activities.push_back({10, 20});
  return import;
}

// One report of GPUs that it does not number.
std::vector<RankImport> report_of(int ranks, const std::string& file = "report.sqlite") {
  std::vector<RankImport> imports;
  for (int rank = 0; rank < ranks; ++rank) {
    imports.push_back(file_of(rank, "nsys"));
    imports.back().rank_is_assumed = true;
    imports.back().trace.file = file;
    imports.back().trace.device = "cuda:" + std::to_string(rank);
  }
  return imports;
}

std::vector<RankImport> together(std::vector<RankImport> a, std::vector<RankImport> b) {
  for (RankImport& import : b) a.push_back(std::move(import));
  return a;
}

struct Kept {
  std::vector<std::string> files;
  std::vector<std::int32_t> ranks;
  std::vector<Warning> warnings;
  std::int32_t world_size = 0;
};

Kept keep(std::vector<RankImport> imports) {
  Kept kept;
  kept.world_size = keep_one_job(imports, kept.warnings);
  for (const RankImport& import : imports) {
    kept.files.push_back(import.trace.file);
    kept.ranks.push_back(import.trace.rank);
  }
  return kept;
}

TEST(OneJob, RanksThatAreAssumedDoNotJoinNumberedOnes) {
  const Kept kept = keep(together(report_of(2), {file_of(0, "kineto"), file_of(1, "kineto")}));
  EXPECT_THAT(kept.files, ElementsAre("kineto-0", "kineto-1")) << "at a tie, who says which rank it is";
  ASSERT_THAT(kept.warnings, SizeIs(1)) << "one a file";
  EXPECT_EQ(kept.warnings[0].code, "another_job");
  EXPECT_THAT(kept.warnings[0].message, HasSubstr("report.sqlite does not say which ranks it holds"));
  EXPECT_THAT(kept.warnings[0].message, HasSubstr("named rank-<N>.sqlite"));
}

TEST(OneJob, TheLargerOfTheTwoIsKept) {
  RankImport numbered = file_of(3, "kineto");
  numbered.world_size = 16;
  const Kept kept = keep(together({std::move(numbered)}, report_of(2)));
  EXPECT_THAT(kept.files, ElementsAre("report.sqlite", "report.sqlite"));
  EXPECT_THAT(kept.ranks, ElementsAre(0, 1));
  EXPECT_EQ(kept.world_size, 0) << "what the file left out says does not hold for the others";
  ASSERT_NE(find_warning(kept.warnings, "another_job"), nullptr);
  EXPECT_THAT(find_warning(kept.warnings, "another_job")->message,
              HasSubstr("kineto-3 is rank 3, and report.sqlite does not say which ranks it holds"));
}

TEST(OneJob, SeveralReportsAreNumberedOnwards) {
  std::vector<RankImport> second = report_of(2, "node1.sqlite");
  for (RankImport& import : second) import.trace.host = "node1";
  const Kept kept = keep(together(report_of(2, "node0.sqlite"), std::move(second)));
  EXPECT_THAT(kept.ranks, ElementsAre(0, 1, 2, 3));
  ASSERT_THAT(kept.warnings, SizeIs(1));
  EXPECT_EQ(kept.warnings[0].code, "ranks_assumed");
  EXPECT_THAT(kept.warnings[0].message, HasSubstr("cuda:1 of node1.sqlite is rank 3)"));
}

TEST(OneJob, ReportsOfAnotherDayAreAnotherJob) {
  std::vector<RankImport> old = report_of(2, "old.sqlite");
  for (RankImport& import : old) import.realtime_of_zero = kSomeDay - 3 * kDay;
  const Kept kept = keep(together(std::move(old), report_of(4, "new.sqlite")));
  EXPECT_THAT(kept.ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(kept.files, testing::Each("new.sqlite"));
  ASSERT_NE(find_warning(kept.warnings, "another_job"), nullptr);
  EXPECT_THAT(find_warning(kept.warnings, "another_job")->message,
              HasSubstr("old.sqlite was recorded 3 days before new.sqlite"));
}

TEST(OneJob, ACopyOfAReportIsNoMoreRanks) {
  const Kept kept = keep(together(report_of(2), report_of(2, "report-copy.sqlite")));
  EXPECT_THAT(kept.files, ElementsAre("report.sqlite", "report.sqlite"));
  ASSERT_THAT(kept.warnings, SizeIs(2));
  EXPECT_EQ(kept.warnings[0].code, "rank_duplicate");
  EXPECT_EQ(kept.warnings[0].message,
            "report-copy.sqlite holds what report.sqlite holds: it is a copy, and left out");
}

TEST(OneJob, KindsRecordedAtAnotherTimeAreAnotherJob) {
  const Kept kept = keep({file_of(0, "flight recorder", kSomeDay + 900 * kDay), file_of(1, "kineto"),
                          file_of(2, "kineto", kSomeDay + 5)});
  EXPECT_THAT(kept.files, ElementsAre("kineto-1", "kineto-2"));
  ASSERT_THAT(kept.warnings, SizeIs(1));
  EXPECT_EQ(kept.warnings[0].message,
            "flight recorder-0 was recorded 900 days after the files of kind \"kineto\", by their wall "
            "clocks: left out, as it is of another job; analyze it alone");
}

TEST(OneJob, KindsOfOneDayOrWithoutWallClocksStay) {
  RankImport timeless = file_of(2, "lockstep");
  timeless.realtime_of_zero.reset();
  const Kept kept =
      keep({file_of(0, "kineto"), file_of(1, "flight recorder", kSomeDay - kDay), std::move(timeless)});
  EXPECT_THAT(kept.ranks, ElementsAre(0, 1, 2));
  EXPECT_THAT(kept.warnings, IsEmpty());
}

TEST(OneJob, RunsOfOneHostAtDifferentTimesAreDifferentJobs) {
  const auto run = [](std::int32_t rank, std::int64_t realtime) {
    RankImport import = file_of(rank, "lockstep", realtime);
    import.trace.host = "node0";
    return import;
  };
  constexpr std::int64_t kMinute = 60'000'000'000;
  const Kept kept = keep({run(0, kSomeDay), run(1, kSomeDay + kMinute)});
  EXPECT_THAT(kept.ranks, ElementsAre(0));
  ASSERT_THAT(kept.warnings, SizeIs(1));
  EXPECT_EQ(kept.warnings[0].code, "another_job");
  EXPECT_THAT(kept.warnings[0].message,
              HasSubstr("lockstep-1 was recorded 60 s after the files that are used"));
  EXPECT_THAT(keep({run(0, kSomeDay), run(1, kSomeDay + 1000)}).warnings, IsEmpty());
  std::vector<RankImport> hosts{run(0, kSomeDay), run(1, kSomeDay + kMinute)};
  hosts[1].trace.host = "node1";
  EXPECT_THAT(keep(std::move(hosts)).warnings, IsEmpty()) << "its clock may be wrong";
}

// A host whose clock was never set is still of the job that its groups name.
TEST(OneJob, OfOneKindTheClockProvesNothing) {
  const Kept kept = keep({file_of(0, "kineto"), file_of(1, "kineto", kSomeDay - 9000 * kDay)});
  EXPECT_THAT(kept.ranks, ElementsAre(0, 1));
  EXPECT_THAT(kept.warnings, IsEmpty());
}

TEST(OneJob, ATimelineWithoutKernelsIsNotToldToBeRenamed) {
  RankImport timeline = file_of(0, "kineto");
  timeline.rank_known = false;
  timeline.trace.activities.clear();
  const Result<Job> job = merge_ranks("here", {timeline, timeline}, {}, 0);
  ASSERT_FALSE(job.ok());
  EXPECT_THAT(job.error().message, HasSubstr("A timeline that holds several ranks, one a pid, is not read"));
  EXPECT_THAT(job.error().message, Not(HasSubstr("Name it")));
}

}  // namespace
}  // namespace lockstep::analyzer
