#include "analyzer/import/rank/cycles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/import/rank/merge.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// One kernel and one all-reduce in one step, from `begin` on, counted from `zero`.
RankImport profile(std::int32_t rank, std::int64_t step, Nanoseconds begin, std::int64_t zero = 0) {
  RankImport import;
  import.may_be_a_cycle = true;
  import.rank_known = true;
  import.process = 100 + rank;
  import.clock_name = "wall clock";
  import.clock_zero = zero;
  RankTrace& trace = import.trace;
  trace.rank = rank;
  trace.file = "rank" + std::to_string(rank) + "_" + std::to_string(step) + ".json";
  // Streams are numbered as they come, which differs between files.
  trace.lanes = {{trace::LaneKind::device_stream, static_cast<std::uint64_t>(step % 2 + 7), ""}};
  import.strings.intern("only in step " + std::to_string(step));
  for (const char* name : {"gemm", "all_reduce"}) {
    Activity activity;
    activity.begin = begin + (trace.activities.empty() ? 10 : 30);
    activity.end = activity.begin + 10;
    activity.launch_begin = activity.launch_end = begin + 5;
    activity.name = import.strings.intern(name);
    trace.activities.push_back(activity);
  }
  trace.activities[1].activity_class = Class::collective;
  trace.activities[1].communication = 0;
  Communication communication;
  communication.activity = 1;
  communication.group = import.intern_group({"dp" + std::to_string(step % 2), "", {0, 1}});
  communication.sequence = step;
  trace.communications.push_back(communication);
  trace.steps.push_back({step, begin, begin + 50});
  finish(import);
  return import;
}

TEST(Cycles, BecomeOneRecording) {
  std::vector<RankImport> imports = {profile(0, 7, 1000), profile(0, 3, 100), profile(1, 3, 100)};
  imports[0].trace.profiler_ns = 40;
  imports[1].trace.profiler_ns = 2;
  std::vector<Warning> warnings;
  ASSERT_TRUE(join_cycles(imports, 0, warnings).ok());
  ASSERT_THAT(imports, SizeIs(2));
  const RankImport& joined = imports[0].trace.rank == 0 ? imports[0] : imports[1];
  const RankTrace& trace = joined.trace;
  ASSERT_THAT(trace.activities, SizeIs(4));
  EXPECT_EQ(trace.activities[0].begin, 110);
  EXPECT_EQ(trace.activities[2].begin, 1010);
  EXPECT_EQ(joined.strings.view(trace.activities[2].name), "gemm");
  EXPECT_EQ(trace.lanes[trace.activities[2].lane].handle, 8u);
  ASSERT_THAT(trace.steps, SizeIs(2));
  EXPECT_EQ(trace.steps[1].number, 7);
  EXPECT_EQ(trace.activities[3].step, 1u);
  EXPECT_EQ(trace.communications[1].activity, 3u);
  EXPECT_EQ(joined.groups[trace.communications[1].group].name, "dp1");
  ASSERT_THAT(trace.unrecorded, SizeIs(1));
  EXPECT_EQ(trace.unrecorded[0].begin, 150);
  EXPECT_EQ(trace.unrecorded[0].end, 1000);
  EXPECT_EQ(trace.profiler_ns, 42) << "in both";
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].code, "profile_cycles");
  EXPECT_TRUE(merge_ranks("x", std::move(imports), {}, 0).ok());
}

TEST(Cycles, CountFromOneZero) {
  std::vector<RankImport> imports = {profile(0, 3, 100, 5'000), profile(0, 7, 100, 9'000)};
  std::vector<Warning> warnings;
  ASSERT_TRUE(join_cycles(imports, 0, warnings).ok());
  ASSERT_THAT(imports, SizeIs(1));
  EXPECT_EQ(imports[0].clock_zero, 5'000);
  EXPECT_EQ(imports[0].trace.activities[2].begin, 4'110);
  EXPECT_EQ(imports[0].trace.activities[2].launch_begin, 4'105);
}

TEST(Cycles, OneMayBeChosen) {
  std::vector<RankImport> imports = {profile(0, 3, 100), profile(0, 7, 1000), profile(1, 3, 100),
                                     profile(1, 7, 1000)};
  std::vector<Warning> warnings;
  ASSERT_TRUE(join_cycles(imports, 2, warnings).ok());
  ASSERT_THAT(imports, SizeIs(2));
  for (const RankImport& import : imports) EXPECT_EQ(import.trace.steps.front().number, 7);
  std::vector<RankImport> again = {profile(0, 3, 100), profile(0, 7, 1000)};
  const Status status = join_cycles(again, 3, warnings);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("--cycle 3: there are 2 cycles"));
}

TEST(Cycles, ARankThatLacksTheChosenOneIsLeftOut) {
  std::vector<RankImport> imports = {profile(0, 3, 100), profile(0, 7, 1000), profile(1, 3, 100)};
  std::vector<Warning> warnings;
  ASSERT_TRUE(join_cycles(imports, 2, warnings).ok());
  ASSERT_THAT(imports, SizeIs(1));
  EXPECT_EQ(imports[0].trace.rank, 0);
  EXPECT_EQ(imports[0].trace.steps.front().number, 7);
  ASSERT_THAT(warnings, SizeIs(2));
  EXPECT_EQ(warnings[1].message, "rank 1 has no cycle 2: left out");
}

// The one profile of rank 1 is of the second: its steps say so.
TEST(Cycles, AreToldByTheirStepsWhereTheFirstIsLacking) {
  for (const int cycle : {1, 2}) {
    std::vector<RankImport> imports = {profile(0, 3, 100), profile(0, 7, 1000), profile(1, 7, 1000)};
    std::vector<Warning> warnings;
    ASSERT_TRUE(join_cycles(imports, cycle, warnings).ok());
    EXPECT_THAT(imports, SizeIs(cycle));
  }
}

// Two profilers in one process, which both count from 0.
TEST(Cycles, OfOneProcessMayBeginTheirStepsAgain) {
  const auto files = [] {
    return std::vector<RankImport>{profile(0, 3, 100), profile(0, 3, 1000), profile(1, 3, 100),
                                   profile(1, 3, 1000), profile(2, 3, 1000)};
  };
  std::vector<RankImport> imports = files();
  std::vector<Warning> warnings;
  ASSERT_TRUE(join_cycles(imports, 0, warnings).ok());
  ASSERT_THAT(imports, SizeIs(3));
  for (const std::size_t rank : {0, 1}) {
    ASSERT_THAT(imports[rank].trace.steps, SizeIs(2));
    EXPECT_EQ(imports[rank].trace.steps[0].number, 3);
    EXPECT_EQ(imports[rank].trace.steps[1].number, 4);
  }
  EXPECT_EQ(imports[2].trace.steps.at(0).number, 4) << "of the second, by its time";
  EXPECT_THAT(warnings.at(0).message, HasSubstr("step numbers that begin again are counted on"));

  imports = files();
  warnings.clear();
  ASSERT_TRUE(join_cycles(imports, 2, warnings).ok());
  ASSERT_THAT(imports, SizeIs(3));
  for (const RankImport& import : imports) {
    EXPECT_EQ(import.trace.activities.front().begin, 1010);
    EXPECT_EQ(import.trace.steps.front().number, 3);
  }
}

// The same job, run twice in a container: its steps begin again; or another process; or at the same time; or
// files of a kind that has no cycles.
TEST(Cycles, OtherFilesOfARankStayApart) {
  RankImport restarted = profile(0, 3, 1000);
  restarted.process = 1;
  RankImport other = profile(0, 7, 1000);
  other.process = 4711;
  RankImport recorded = profile(0, 7, 1000);
  recorded.may_be_a_cycle = false;
  for (RankImport* second : {&restarted, &other, &recorded}) {
    std::vector<RankImport> imports;
    imports.push_back(profile(0, 3, 100));
    if (second == &restarted) imports[0].process = 1;
    imports.push_back(std::move(*second));
    std::vector<Warning> warnings;
    ASSERT_TRUE(join_cycles(imports, 0, warnings).ok());
    EXPECT_THAT(imports, SizeIs(2));
    EXPECT_THAT(warnings, IsEmpty());
  }
  std::vector<RankImport> imports = {profile(0, 3, 100), profile(0, 7, 120)};
  std::vector<Warning> warnings;
  ASSERT_TRUE(join_cycles(imports, 0, warnings).ok());
  EXPECT_THAT(imports, SizeIs(2));
}

}  // namespace
}  // namespace lockstep::analyzer
