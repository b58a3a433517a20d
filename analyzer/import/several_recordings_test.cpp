// A folder of folders: each of a job of its own, or all of one job.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/import/import.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

// Of the first step of a program: what comes later is no next cycle of an earlier one.
std::string profile_of(int rank, int day = 0) {
  return fmt::format(
      R"({{"distributedInfo": {{"rank": {0}, "world_size": 2}}, "traceEvents": [
          {{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 9, "tid": 9, "ts": {1},
            "dur": 4}},
          {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": {1}, "dur": 2,
            "args": {{"device": 0, "stream": 7}}}}]}})",
      rank, 1694128201545000 + 86'400'000'000 * day);
}

std::string dump_of(int rank) {
  return fmt::format(
      R"({{"version": "2.4", "rank": {}, "pg_config": {{"0": {{"name": "0", "desc": "default_pg",
          "ranks": "[0, 1]"}}}},
          "entries": [{{"pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1,
                       "profiling_name": "nccl:all_reduce", "time_created_ns": 1694128201545000000,
                       "state": "scheduled"}}]}})",
      rank);
}

std::string refusal(const TemporaryFolder& folder) {
  const Result<Job> job = import_job({folder.path().string()});
  EXPECT_FALSE(job.ok());
  return job.ok() ? "" : job.error().message;
}

std::size_t ranks_read(const std::string& path) {
  return must(import_job({path})).ranks.size();
}

TEST(SeveralJobs, ProfilesOfTwoDaysAreListed) {
  const TemporaryFolder folder;
  for (const int rank : {0, 1}) {
    folder.write(fmt::format("mon/rank{}.json", rank), profile_of(rank));
    folder.write(fmt::format("tue/rank{}.json", rank), profile_of(rank, 1));
  }
  EXPECT_EQ(
      refusal(folder),
      fmt::format("{0}: 2 folders in this folder are of several jobs (rank 0 is in more than one); give "
                  "one of them, for example {0}/mon\n  {0}/mon\n  {0}/tue",
                  folder.path().string()));
  EXPECT_EQ(ranks_read(folder / "mon"), 2U);
  const Job both = must(import_job({folder / "mon", folder / "tue"}));
  EXPECT_NE(find_warning(both.warnings, "rank_duplicate"), nullptr)
      << "whoever names both has both looked at";
}

TEST(SeveralJobs, DumpsOfTwoIncidentsAreListed) {
  const TemporaryFolder folder;
  for (const char* of : {"hang_1", "hang_2"})
    for (const int rank : {0, 1}) folder.write(fmt::format("{}/nccl_trace_rank_{}", of, rank), dump_of(rank));
  EXPECT_THAT(refusal(folder), HasSubstr(folder / "hang_2"));
}

TEST(SeveralJobs, FoldersOfJobsThatHaveFoldersOfRanksAreListed) {
  const TemporaryFolder folder;
  for (const int day : {1, 2})
    for (const int rank : {0, 1})
      folder.write(fmt::format("traces/day{}/rank{}/trace.json", day, rank), profile_of(rank, day));
  const std::string message = refusal(folder);
  EXPECT_THAT(message, HasSubstr(folder / "traces/day1\n"));
  EXPECT_THAT(message, Not(HasSubstr("rank1/")));
}

TEST(SeveralJobs, FoldersOfRanksAndOfHostsAreOneJob) {
  const TemporaryFolder ranks;
  for (const int rank : {0, 1}) ranks.write(fmt::format("rank{}/trace.json", rank), profile_of(rank));
  EXPECT_EQ(ranks_read(ranks.path().string()), 2U);
  const TemporaryFolder hosts;
  for (const int rank : {0, 1, 2, 3})
    hosts.write(fmt::format("node{}/worker/rank{}.json", rank / 2, rank), profile_of(rank));
  EXPECT_EQ(ranks_read(hosts.path().string()), 4U);
}

TEST(SeveralJobs, ProfilesAndDumpsOfTheSameRanksAreOneJob) {
  const TemporaryFolder folder;
  for (const int rank : {0, 1}) {
    folder.write(fmt::format("profiles/rank{}.json", rank), profile_of(rank));
    folder.write(fmt::format("dumps/nccl_trace_rank_{}", rank), dump_of(rank));
  }
  EXPECT_EQ(ranks_read(folder.path().string()), 2U);
}

// What was kept of one rank beside a job's folders does not hide the job.
TEST(SeveralJobs, ARankTwiceAmongFoldersOfHostsIsLeftOut) {
  const TemporaryFolder folder;
  folder.write("node0/rank0.json", profile_of(0));
  folder.write("node1/rank1.json", profile_of(1));
  folder.write("old/rank0.json", profile_of(0, 1));
  const Job job = must(import_job({folder.path().string()}));
  EXPECT_EQ(job.ranks.size(), 2U);
  EXPECT_NE(find_warning(job.warnings, "rank_duplicate"), nullptr);
}

// The trace files of the folder itself are what was asked for.
TEST(SeveralJobs, FilesBesideSubfoldersAreRead) {
  const TemporaryFolder folder;
  for (const int rank : {0, 1}) {
    folder.write(fmt::format("rank{}.json", rank), profile_of(rank));
    folder.write(fmt::format("old/rank{}.json", rank), profile_of(rank, 1));
  }
  EXPECT_EQ(ranks_read(folder.path().string()), 2U);
}

}  // namespace
}  // namespace lockstep::analyzer
