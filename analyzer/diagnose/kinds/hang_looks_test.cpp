// Where ranks of a job that hung were last seen, by looks at their Python: of those whose stacks nobody wrote
// down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr Nanoseconds kLook = 50'000 * us;
constexpr Nanoseconds kLastEnd = 26'000 * us;  // of rank 2's last operation
constexpr const char* kOldSentence = "Its stacks were not written down";

// Looks in a row at one place, one after the other from `begin` on.
Nanoseconds look(Job& job, std::size_t rank, const std::string& place, int times, Nanoseconds begin) {
  const std::uint32_t name = job.strings.intern(place);
  for (int i = 0; i < times; ++i, begin += kLook)
    job.ranks[rank].host_ranges.push_back({begin, begin + kLook, name, 0, 0, HostKind::python_place});
  return begin;
}

// Rank 2 never comes; until the others' hang ends, 60 s after they came.
Job absent_rank() {
  Job job = hung_job({0, 1, 3}, 60 * kSecond);
  for (RankTrace& rank : job.ranks) rank.lanes.push_back({trace::LaneKind::host_thread, 1, "main"});
  return job;
}

TEST(HangLooks, TellWhereTheRankThatNeverCameWasLastSeen) {
  Job job = absent_rank();
  const Nanoseconds then = look(job, 2, "forward (job.py:28)", 3, kLastEnd);
  look(job, 2, "train (job.py:63)", 1180, then);
  const Finding found = finding(report_of(job), "hang");
  const std::string known =
      "ended all_reduce number 2 before; was last seen in `train (job.py:63)`, 1,180 looks in a row over "
      "59.0 s";
  EXPECT_THAT(found.evidence, Contains("rank 2 " + known));
  EXPECT_THAT(found.remedy, HasSubstr("The line that it was last seen in stands above"));
  EXPECT_THAT(found.remedy, HasSubstr("with a `--hang-timeout` shorter than this silence writes the stacks"));
  EXPECT_THAT(found.remedy, Not(HasSubstr(kOldSentence)));
  // The page and the viewer say so too.
  ASSERT_EQ(found.standings.size(), 2U);
  EXPECT_EQ(found.standings[1].where, known);
}

// The watch for hangs is on by default: nobody has to be told to ask for it.
TEST(HangLooks, OfDumpsAreAdvisedWhereThereIsARecorderThatLooks) {
  Job job = absent_rank();
  job.dumps = Dumps::all;
  EXPECT_THAT(
      finding(report_of(job), "hang").remedy,
      HasSubstr("`lockstep record` writes those of every rank down, Python's and native ones, after a "
                "silence of 5 minutes"));
}

TEST(HangLooks, BeforeTheLastOperationsEndTellNothing) {
  Job job = absent_rank();
  look(job, 2, "train (job.py:40)", 1, kLastEnd - 1);
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence, Contains("rank 2 ended all_reduce number 2 before"));
  EXPECT_THAT(found.remedy, HasSubstr(kOldSentence));
}

// It lives on, handles the signal and cleans up: that is not where it hung.
TEST(HangLooks, AfterTheInterruptionTellNothing) {
  Job job = absent_rank();
  const Nanoseconds then = look(job, 2, "train (job.py:63)", 600, kLastEnd);
  look(job, 2, "clean_up (job.py:90)", 600, then);
  for (RankTrace& rank : job.ranks) rank.ending.interrupted = then;
  EXPECT_THAT(finding(report_of(job), "hang").evidence,
              Contains(HasSubstr("was last seen in `train (job.py:63)`, 600 looks in a row over 30.0 s")));
  for (RankTrace& rank : job.ranks) rank.ending.interrupted = kLastEnd;
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("hang")));
}

TEST(HangLooks, OfARankWhoseStackWasWrittenDownAddNothing) {
  Job job = absent_rank();
  look(job, 2, "train (job.py:63)", 600, kLastEnd);
  job.ranks[2].ending.doing = "train in job.py:63";
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence, Not(Contains(HasSubstr("last seen"))));
  EXPECT_THAT(found.remedy, HasSubstr("hang-rank-2.json"));
}

TEST(HangLooks, ThatSawARankGoAroundNameThePlaceThatMostSaw) {
  Job job = absent_rank();
  Nanoseconds at = kLastEnd;
  for (int i = 0; i < 200; ++i) {
    at = look(job, 2, "poll (wait.py:7)", 3, at);
    at = look(job, 2, "check (wait.py:12)", 2, at);
  }
  EXPECT_THAT(finding(report_of(job), "hang").evidence,
              Contains(HasSubstr("was last seen in `check (wait.py:12)`, and most often in `poll "
                                 "(wait.py:7)`, at 600 of 1,000 looks over 50.0 s")));
  look(job, 2, "poll (wait.py:7)", 1, at);
  EXPECT_THAT(finding(report_of(job), "hang").evidence,
              Contains(HasSubstr("was last seen in `poll (wait.py:7)`, at 601 of 1,001 looks over 50.1 s")));
}

// Something holds the interpreter's lock: where the rank was seen is not where it stands.
TEST(HangLooks, ThatEndLongBeforeTheRecordingSaySo) {
  Job job = absent_rank();
  look(job, 2, "train (job.py:63)", 200, kLastEnd + 10'000 * us);
  EXPECT_THAT(finding(report_of(job), "hang").evidence,
              Contains(HasSubstr("`train (job.py:63)`, 200 looks in a row over 10.0 s, and at no look in the "
                                 "50.0 s after that")));
}

TEST(HangLooks, TellWhereRanksStandThatDisagree) {
  Job job = hung_job({0, 1, 2, 3}, 60 * kSecond);
  job.ranks[2].ending.operations[0].operation = Operation::barrier;
  job.ranks[2].ending.operations[0].name = job.strings.intern("barrier");
  for (std::size_t rank = 0; rank < 4; ++rank) {
    job.ranks[rank].lanes.push_back({trace::LaneKind::host_thread, 1, "main"});
    look(job, rank, "earlier (job.py:1)", 1, 35'000 * us);
    look(job, rank, rank == 2 ? "main (job.py:30)" : "main (job.py:44)", 1100, 37'000 * us);
  }
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.evidence,
              Contains("rank 0 was last seen in `main (job.py:44)`, 1,100 looks in a row over 55.0 s"));
  EXPECT_THAT(found.evidence,
              Contains("rank 2 was last seen in `main (job.py:30)`, 1,100 looks in a row over 55.0 s"));
  EXPECT_THAT(found.remedy, HasSubstr("The lines that they were last seen in stand above"));
}

// Ranks of which nothing else is known but where they were seen stand together.
TEST(HangLooks, OfRanksThatAreInNoneOfTheOperationsAreLeftOut) {
  Job job = absent_rank();
  JobBuilder builder;
  for (const std::int32_t rank : {4, 5}) builder.rank(rank).compute(0, 10);
  Job others = builder.build();
  for (RankTrace& rank : others.ranks) {
    for (Activity& activity : rank.activities) activity.name = job.strings.intern("layer");
    rank.lanes.push_back({trace::LaneKind::host_thread, 1, "main"});
    job.ranks.push_back(rank);
  }
  job.world_size = 6;
  look(job, 4, "train (job.py:63)", 10, kLastEnd);
  look(job, 5, "train (job.py:63)", 11, kLastEnd);
  const Finding found = finding(report_of(job), "hang");
  EXPECT_THAT(found.standings.back().ranks, testing::ElementsAre(4, 5));
}

}  // namespace
}  // namespace lockstep::analyzer
