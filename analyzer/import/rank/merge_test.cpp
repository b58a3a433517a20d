#include "analyzer/import/rank/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/import/test_files.h"
#include "analyzer/model/check_job.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One activity [10, 20) of the given name, launched at 5.
RankImport one_rank(std::int32_t rank, const std::string& name = "kernel") {
  RankImport import;
  import.trace.rank = rank;
  import.rank_known = true;
  import.trace.file = "file-" + std::to_string(rank);
  import.source = "kineto";
  import.trace.lanes = {{ trace::LaneKind::device_stream, 7, "stream 7" }};
  import.strings.intern("only in rank " + std::to_string(rank));
  Activity activity;
  activity.begin = 10;
  activity.end = 20;
  activity.launch_begin = activity.launch_end = 5;
  activity.name = import.strings.intern(name);
  import.trace.activities.push_back(activity);
  return import;
}

Job merged(std::vector<RankImport> imports, std::int32_t world_size = 0) {
  Job job = must(merge_ranks("somewhere", std::move(imports), {}, world_size));
  const Status status = check_job(job);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return job;
}

template <class... Imports>
std::vector<RankImport> list(Imports... imports) {
  std::vector<RankImport> out;
  (out.push_back(std::move(imports)), ...);
  return out;
}

TEST(MergeRanks, SortsRanksAndJoinsNames) {
  const Job job = merged(list(one_rank(2, "b"), one_rank(0, "a"), one_rank(1, "b")));
  ASSERT_EQ(job.ranks.size(), 3u);
  EXPECT_EQ(job.ranks[2].rank, 2);
  EXPECT_EQ(job.strings.view(job.ranks[0].activities[0].name), "a");
  EXPECT_EQ(job.strings.view(job.ranks[2].activities[0].name), "b");
  EXPECT_EQ(job.ranks[1].activities[0].name, job.ranks[2].activities[0].name);
  EXPECT_EQ(job.world_size, 3);
  EXPECT_THAT(job.sources, ElementsAre("kineto"));
  EXPECT_THAT(job.ranks_missing, IsEmpty());
  EXPECT_THAT(job.warnings, IsEmpty());
}

TEST(MergeRanks, TellsHowManyOfTheFilesUsedAreDumps) {
  const auto dump = [](std::int32_t rank) {
    RankImport import = one_rank(rank);
    import.is_dump = true;
    return import;
  };
  EXPECT_EQ(merged(list(one_rank(0), one_rank(1))).dumps, Dumps::none);
  EXPECT_EQ(merged(list(one_rank(0), dump(1))).dumps, Dumps::some);
  EXPECT_EQ(merged(list(dump(0), dump(1))).dumps, Dumps::all);
  EXPECT_EQ(merged(list(one_rank(0), one_rank(1), dump(1))).dumps, Dumps::none) << "the third is left out";
}

TEST(MergeRanks, KeepsTheFirstOfTwoFilesOfARank) {
  RankImport second = one_rank(1, "second");
  second.trace.file = "other";
  const Job job = merged(list(one_rank(0), one_rank(1, "first"), std::move(second)));
  ASSERT_EQ(job.ranks.size(), 2u);
  EXPECT_EQ(job.strings.view(job.ranks[1].activities[0].name), "first");
  const Warning* warning = find_warning(job.warnings, "rank_duplicate");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(
      warning->message,
      "rank 1 twice: file-1 is used, as it comes first; other is left out (to use that one, move the other "
      "away)");
  EXPECT_EQ(warning->rank, 1);
}

TEST(MergeRanks, OneFileWithoutRankIsRankZeroSeveralAreLeftOut) {
  RankImport unknown = one_rank(0);
  unknown.rank_known = false;
  const Job alone = merged(list(unknown));
  EXPECT_EQ(alone.ranks.at(0).rank, 0);
  EXPECT_NE(find_warning(alone.warnings, "rank_unknown"), nullptr);

  const Job beside = merged(list(one_rank(4), unknown));
  ASSERT_EQ(beside.ranks.size(), 1u);
  EXPECT_EQ(beside.ranks[0].rank, 4);
  EXPECT_THAT(find_warning(beside.warnings, "rank_unknown")->message,
              HasSubstr("left out. Name it rank-<N>.json"));

  const Result<Job> none =
      merge_ranks("somewhere", list(unknown, unknown), {{"file_unreadable", "x.json: broken", kNoRank}}, 0);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message,
              HasSubstr("somewhere: no rank could be read\n  x.json: broken\n  file-0: neither"));
}

TEST(MergeRanks, CountsMissingRanks) {
  RankImport a = one_rank(1), b = one_rank(3);
  a.world_size = b.world_size = 5;
  const Job job = merged(list(std::move(a), std::move(b)));
  EXPECT_EQ(job.world_size, 5);
  EXPECT_THAT(job.ranks_missing, ElementsAre(0, 2, 4));
  EXPECT_THAT(merged(list(one_rank(0)), 2).ranks_missing, ElementsAre(1));  // a manifest says so
}

TEST(MergeRanks, KeepsTheJobWithTheMostRanks) {
  RankImport small = one_rank(0), a = one_rank(0, "a"), b = one_rank(1), silent = one_rank(2);
  small.world_size = 2;
  a.world_size = b.world_size = 16;
  const Job job = merged(list(std::move(small), std::move(a), std::move(b), std::move(silent)));
  ASSERT_EQ(job.ranks.size(), 3u);
  EXPECT_EQ(job.strings.view(job.ranks[0].activities[0].name), "a");
  EXPECT_EQ(job.world_size, 16);
  EXPECT_EQ(find_warning(job.warnings, "world_size_mismatch")->message,
            "file-0 is of a job of 2 ranks, not 16: left out");
  EXPECT_EQ(find_warning(job.warnings, "rank_duplicate"), nullptr);
}

TEST(MergeRanks, ARankBeyondTheWorldSizeIsSaid) {
  RankImport a = one_rank(7);
  a.world_size = 4;
  const Job job = merged(list(std::move(a)));
  EXPECT_EQ(job.world_size, 8);
  EXPECT_THAT(find_warning(job.warnings, "world_size_mismatch")->message,
              HasSubstr("rank 7 is there although"));
}

TEST(MergeRanks, FilesOfOneClockAreShiftedExactly) {
  RankImport a = one_rank(0), b = one_rank(1);
  a.clock_name = b.clock_name = "wall clock";
  a.clock_zero = 1'000'000'000'000;
  b.clock_zero = 1'000'000'000'300;
  a.realtime_of_zero = a.clock_zero;
  b.realtime_of_zero = b.clock_zero;
  b.trace.steps.push_back({1, 0, 100});
  b.trace.host_ranges.push_back({2, 3, 0, 0, 0, HostKind::other});
  b.trace.counters.push_back({"memory", {{7, 1.5}}});
  const Job job = merged(list(std::move(a), std::move(b)));
  EXPECT_EQ(job.realtime_of_zero, 1'000'000'000'000);
  EXPECT_EQ(job.ranks[0].activities[0].begin, 10);
  EXPECT_EQ(job.ranks[1].activities[0].begin, 310);
  EXPECT_EQ(job.ranks[1].activities[0].launch_begin, 305);
  EXPECT_EQ(job.ranks[1].steps[0].end, 400);
  EXPECT_EQ(job.ranks[1].host_ranges[0].begin, 302);
  EXPECT_EQ(job.ranks[1].counters[0].points[0].time, 307);
  EXPECT_EQ(job.ranks[1].clock.offset_ns, 300);
  EXPECT_EQ(job.ranks[1].clock.uncertainty_ns, 0);
  EXPECT_THAT(job.warnings, IsEmpty());
}

TEST(MergeRanks, HostsAreRelatedByTheirWallClocks) {
  RankImport a = one_rank(0), b = one_rank(1), c = one_rank(2);
  a.clock_name = c.clock_name = "monotonic clock of here";
  b.clock_name = "monotonic clock of there";
  a.realtime_of_zero = 5000;
  b.realtime_of_zero = 5070;
  c.realtime_of_zero = 5001;  // the same clock, read a moment later: no reason to shift
  const Job job = merged(list(std::move(a), std::move(b), std::move(c)));
  EXPECT_EQ(job.ranks[1].activities[0].begin, 80);
  EXPECT_EQ(job.ranks[1].clock.uncertainty_ns, 1'000'000);
  EXPECT_TRUE(job.ranks[1].clock.related);
  EXPECT_EQ(job.ranks[2].activities[0].begin, 10);
  EXPECT_EQ(job.ranks[1].clock.evidence, "wall clock");
  EXPECT_EQ(job.ranks[1].clock.domain, 1u);
  EXPECT_EQ(job.ranks[2].clock.domain, 0u);
}

TEST(MergeRanks, ClocksThatCantBeRelatedAreSaid) {
  RankImport a = one_rank(0), b = one_rank(1), c = one_rank(2);
  a.clock_name = "odd one";
  b.clock_name = c.clock_name = "common";
  const Job job = merged(list(std::move(a), std::move(b), std::move(c)));
  EXPECT_FALSE(job.ranks[0].clock.related);
  EXPECT_TRUE(job.ranks[1].clock.related);
  EXPECT_EQ(job.ranks[0].clock.domain, 1u);
  EXPECT_EQ(job.ranks[0].clock.evidence, "none");
}

std::vector<std::uint32_t> domains_of(std::vector<RankImport> imports) {
  std::vector<std::uint32_t> domains;
  for (const RankTrace& rank : merged(std::move(imports)).ranks) domains.push_back(rank.clock.domain);
  return domains;
}

std::vector<RankImport> on_devices(const std::vector<std::string>& devices) {
  std::vector<RankImport> imports;
  for (const std::string& device : devices) {
    imports.push_back(one_rank(static_cast<int>(imports.size())));
    imports.back().trace.device = device;
  }
  return imports;
}

TEST(MergeRanks, MoreRanksThanAHostHoldsHaveNotOneClock) {
  const auto ranks = [](int count) {
    return on_devices(std::vector<std::string>(static_cast<std::size_t>(count)));
  };
  EXPECT_THAT(domains_of(ranks(16)), testing::Each(0u));
  EXPECT_THAT(domains_of(ranks(17)), testing::Contains(16u));
}

TEST(MergeRanks, WhereDeviceNumbersBeginAnewIsAnotherHost) {
  EXPECT_THAT(domains_of(on_devices({"cuda:0", "cuda:1", "cuda:0", "cuda:1"})), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(domains_of(on_devices({"cuda:9", "cuda:10", "cuda:9", "cuda:10"})), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(domains_of(on_devices({"cuda:0", "cuda:1"})), ElementsAre(0, 0));
  // A launcher that shows each rank its own device alone.
  EXPECT_THAT(domains_of(on_devices({"cuda:0", "cuda:0"})), ElementsAre(0, 0));
  EXPECT_THAT(domains_of(on_devices({"cpu", "cpu"})), ElementsAre(0, 0));
}

TEST(MergeRanks, RanksOfAnotherHostMoveTogether) {
  std::vector<RankImport> imports = on_devices({"cpu", "cpu", "cpu", "cpu", "cpu"});
  for (RankImport& import : imports) import.clock_name = import.trace.rank < 3 ? "here" : "there";
  for (RankImport& import : imports)
    import.realtime_of_zero = import.trace.rank < 3 ? 5000 : 6000 + import.trace.rank;
  const Job job = merged(std::move(imports));
  EXPECT_EQ(job.ranks[3].clock.offset_ns, 1003);
  EXPECT_EQ(job.ranks[4].clock.offset_ns, 1003);  // the same clock, read a moment later
}

TEST(MergeRanks, WarningsOfAFileNameItsRank) {
  RankImport a = one_rank(3);
  a.warnings.push_back({"early", "said before the rank was known", kNoRank});
  EXPECT_EQ(find_warning(merged(list(std::move(a))).warnings, "early")->rank, 3);
}

// A thousand dumps of a PyTorch that writes no groups are one sentence.
TEST(MergeRanks, WhatFilesSayAlikeOfTheirGroupsIsSaidOnceWithTheirRanks) {
  std::vector<RankImport> imports = list(one_rank(4), one_rank(0), one_rank(1), one_rank(2));
  for (const std::size_t said_by : {0, 1, 2})
    imports[said_by].warnings.push_back({"group_members_unknown", "no groups", kNoRank});
  const Job job = merged(std::move(imports));
  ASSERT_EQ(std::ranges::count(job.warnings, "group_members_unknown", &Warning::code), 1);
  EXPECT_EQ(find_warning(job.warnings, "group_members_unknown")->message, "no groups (ranks 0–1, 4)");
  EXPECT_EQ(find_warning(job.warnings, "group_members_unknown")->rank, kNoRank);
  RankImport alone = one_rank(3);
  alone.warnings.push_back({"group_members_unknown", "no groups", kNoRank});
  const Job of_one = merged(list(std::move(alone)));
  EXPECT_EQ(find_warning(of_one.warnings, "group_members_unknown")->message, "no groups (rank 3)");
  EXPECT_EQ(find_warning(of_one.warnings, "group_members_unknown")->rank, 3);
}

TEST(MergeRanks, AShiftThatWouldOverflowIsNotMade) {
  RankImport a = one_rank(0), b = one_rank(1);
  a.clock_name = b.clock_name = "wall clock";
  b.clock_zero = INT64_MAX;
  const Job job = merged(list(std::move(a), std::move(b)));
  EXPECT_EQ(job.ranks[1].activities[0].begin, 10);
  EXPECT_FALSE(job.ranks[1].clock.related);
}

TEST(MergeRanks, GroupsAreTheSameIfNameAndRanksAre) {
  RankImport a = one_rank(0), b = one_rank(1), c = one_rank(2);
  const auto communicate = [](RankImport& import, std::vector<std::int32_t> ranks) {
    Communication communication;
    communication.activity = 0;
    communication.group = import.intern_group({"dp", "", std::move(ranks)});
    import.trace.activities[0].communication = 0;
    import.trace.activities[0].activity_class = Class::collective;
    import.trace.communications.push_back(communication);
  };
  b.intern_group({"unused", "", {1}});
  communicate(a, {0, 1});
  communicate(b, {});  // its list was cut: the only group of this name that holds rank 1
  communicate(c, {2, 3});
  const Job job = merged(list(std::move(a), std::move(b), std::move(c)));
  EXPECT_EQ(job.ranks[0].communications[0].group, job.ranks[1].communications[0].group);
  EXPECT_NE(job.ranks[0].communications[0].group, job.ranks[2].communications[0].group);
  EXPECT_THAT(job.groups.at(job.ranks[1].communications[0].group).ranks, ElementsAre(0, 1));
}

}  // namespace
}  // namespace lockstep::analyzer
