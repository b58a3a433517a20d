// Files of several kinds and jobs in one folder: which are analyzed, and what is said of the others.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/import/import.h"
#include "analyzer/import/nsys/report_file.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Recorded in 2023.
std::string kineto(int rank) {
  return fmt::format(
      R"({{"distributedInfo": {{"rank": {}, "world_size": 8}}, "traceEvents": [
          {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1694128201545000, "dur": 2,
            "args": {{"device": 0, "stream": 7}}}}]}})",
      rank);
}

// Of two GPUs, recorded in 2026.
void write_report(const std::string& path) {
  nsys::ReportFile report(path);
  report.add_tables();
  report.run(
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);INSERT INTO "
      "TARGET_INFO_SESSION_START_TIME VALUES (1779782330176752435);");
  for (const int device : {0, 1}) report.kernel(10, 20, 100 + device, device, 7, 1, "gemm");
}

std::string dump(int world_size) {
  std::string ranks;
  for (int rank = 0; rank < world_size; ++rank) ranks += fmt::format("{}{}", rank == 0 ? "" : ", ", rank);
  return fmt::format(
      R"({{"version": "2.4", "pg_config": {{"0": {{"name": "0", "desc": "default_pg", "ranks": "[{}]"}}}},
          "entries": [{{"pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1,
                       "profiling_name": "nccl:all_reduce", "time_created_ns": 1694128201545000000,
                       "state": "scheduled"}}]}})",
      ranks);
}

std::vector<std::int32_t> ranks_of(const Job& job) {
  std::vector<std::int32_t> ranks;
  for (const RankTrace& rank : job.ranks) ranks.push_back(rank.rank);
  return ranks;
}

TEST(MixedKinds, FilesOfThreeJobsAreNotMerged) {
  const TemporaryFolder folder;
  folder.write("rank-0.json", kineto(0));
  folder.write("rank-1.json", kineto(1));
  folder.write("_dump_3", dump(16));
  write_report(folder / "n.sqlite");
  const Job job = must(import_job({folder.path().string()}));
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1));
  EXPECT_THAT(job.sources, ElementsAre("kineto"));
  EXPECT_EQ(job.world_size, 8);
  for (const RankTrace& rank : job.ranks) EXPECT_EQ(rank.clock.domain, 0u);
  ASSERT_NE(find_warning(job.warnings, "another_job"), nullptr);
  EXPECT_THAT(find_warning(job.warnings, "another_job")->message,
              HasSubstr("n.sqlite does not say which ranks it holds"));
  ASSERT_NE(find_warning(job.warnings, "world_size_mismatch"), nullptr);
  EXPECT_THAT(find_warning(job.warnings, "world_size_mismatch")->message,
              HasSubstr("_dump_3 is of a job of 16 ranks, not 8: left out"));
  EXPECT_EQ(find_warning(job.warnings, "ranks_assumed"), nullptr);
}

// A job that hung: profiles of some of its ranks, dumps of the others.
TEST(MixedKinds, ProfilesAndDumpsOfOneJobAreOneJob) {
  const TemporaryFolder folder;
  folder.write("rank-0.json", kineto(0));
  folder.write("rank-1.json", kineto(1));
  folder.write("_dump_3", dump(8));
  const Job job = must(import_job({folder.path().string()}));
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1, 3));
  EXPECT_THAT(job.sources, ElementsAre("flight recorder", "kineto"));
  EXPECT_EQ(job.dumps, Dumps::some);
  EXPECT_EQ(find_warning(job.warnings, "another_job"), nullptr);
}

TEST(MixedKinds, OfACopyTheOriginalIsUsed) {
  const TemporaryFolder folder;
  folder.write("rank-0.json", kineto(0));
  folder.write("rank-1-copy.json", kineto(1));
  folder.write("rank-1.json", kineto(1));
  const Job job = must(import_job({folder.path().string()}));
  ASSERT_EQ(job.ranks.size(), 2u);
  EXPECT_EQ(job.ranks[1].file, folder / "rank-1.json");
  ASSERT_NE(find_warning(job.warnings, "rank_duplicate"), nullptr);
  EXPECT_EQ(find_warning(job.warnings, "rank_duplicate")->message,
            fmt::format("rank 1 twice: {} is used, as it comes first; {} is left out (to use that one, move "
                        "the other away)",
                        folder / "rank-1.json", folder / "rank-1-copy.json"));
}

TEST(MixedKinds, AnOldPickleIsCalledSo) {
  const TemporaryFolder folder;
  folder.write("_dump_0", "(dp0\nVentries\np1\n(lp2\ns.");
  const Result<Job> job = import_job({folder.path().string()});
  ASSERT_FALSE(job.ok());
  EXPECT_THAT(job.error().message, HasSubstr("_dump_0: a pickle of protocol 0 or 1, which is not read"));
}

constexpr const char* kLog =
    "[2026-01-02 03:04:05] node0:10:11 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
    "node0:10:11 [0] NCCL INFO comm 0x1 rank 0 nranks 8 cudaDev 0 busId 1000 commId 0x2 - Init START\n"
    "node0:10:11 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n";

TEST(MixedKinds, NcclsLogIsReadBesideTraces) {
  const TemporaryFolder folder;
  folder.write("rank-0.json", kineto(0));
  folder.write("rank-1.json", kineto(1));
  folder.write("train.log", "nothing of NCCL's");
  folder.write("nccl.node0.10", kLog);
  const Job job = must(import_job({folder.path().string()}));
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1));
  EXPECT_THAT(job.sources, ElementsAre("kineto"));
  EXPECT_THAT(job.warnings, testing::IsEmpty());
  ASSERT_EQ(job.paths.size(), 1u);
  EXPECT_EQ(job.paths[0].from, 0);
  EXPECT_EQ(job.paths[0].to, 1);
  EXPECT_TRUE(job.paths[0].ranks_are_global) << "its communicator is as large as the job";
  EXPECT_EQ(job.paths[0].transport, Transport::shared_memory);
  EXPECT_EQ(job.paths[0].file, "nccl.node0.10");
}

// A job's output, packed, of any name: where it is named it is looked at.
TEST(MixedKinds, NcclsLogIsToldByItsContent) {
  const TemporaryFolder folder;
  std::string output;
  for (int line = 0; line < 1000; ++line) output += "[0] loading\n";
  const std::string log = folder.write("slurm-17.out", gzip(output + kLog));
  const Job job = must(import_job({folder.write("rank-0.json", kineto(0)), log}));
  EXPECT_EQ(job.paths.size(), 1u);
}

TEST(MixedKinds, NcclsLogAloneIsNoJob) {
  const TemporaryFolder folder;
  const Result<Job> job = import_job({folder.write("nccl.log", kLog)});
  ASSERT_FALSE(job.ok());
  EXPECT_THAT(job.error().message, HasSubstr("give the job's traces too"));
}

}  // namespace
}  // namespace lockstep::analyzer
