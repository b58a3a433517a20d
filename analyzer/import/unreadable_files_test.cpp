// Files of a run that can't be read: each is told of, and no rank is gone without a word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "analyzer/import/import.h"
#include "analyzer/import/test_files.h"
#include "trace/writer.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// It does not say how many ranks the job has.
void write_small_rank(const std::string& path, int rank) {
  trace::Writer writer = must(trace::Writer::create(path.c_str()));
  writer.set_metadata("rank", std::to_string(rank));
  const trace::LaneId lane = writer.add_lane({trace::LaneKind::compute_thread, 1, 1, 0, ""});
  writer.append(
      trace::DeviceActivity{lane, 10, 20, writer.intern("layer"), trace::ActivityClass::compute, 0, 0});
  ASSERT_TRUE(writer.close().ok());
}

std::vector<std::string> said_unreadable(const Job& job) {
  std::vector<std::string> messages;
  for (const Warning& warning : job.warnings)
    if (warning.code == "file_unreadable") messages.push_back(warning.message);
  return messages;
}

TEST(UnreadableFiles, WhatIsNoFileInARunIsSaidToBeLeftOut) {
  const TemporaryFolder folder;
  write_small_rank(folder / "rank-0.lst", 0);
  folder.write("manifest.json", R"({"format": "lockstep.run/1", "world_size": 1})");
  folder.write("control/rank-0", "");
  folder.write("traces.json/inside", "");  // a folder that somebody made is none of ours
  const std::vector<std::string> names{"clock-a-1.json", "hang-rank-0.json",  "manifest-rank-1.json",
                                       "nccl.log",       "nccl_trace_rank_0", "profile.json"};
  for (const std::string& name : names) ASSERT_EQ(mkfifo((folder / name).c_str(), 0600), 0) << name;
  ASSERT_EQ(mkfifo((folder / "notes").c_str(), 0600), 0);
  std::vector<std::string> expected;
  for (const std::string& name : names)
    expected.push_back((folder / name) + ": not a regular file, and left out");
  const Job job = must(import_job({folder.path().string()}));
  EXPECT_EQ(said_unreadable(job), expected);
  EXPECT_EQ(job.ranks.size(), 1U);
}

TEST(UnreadableFiles, AManifestThatIsNoFileIsSaidOnce) {
  const TemporaryFolder folder;
  write_small_rank(folder / "rank-0.lst", 0);
  ASSERT_EQ(mkfifo((folder / "manifest.json").c_str(), 0600), 0);
  const Job job = must(import_job({folder.path().string()}));
  const Warning* const damaged = find_warning(job.warnings, "manifest_damaged");
  ASSERT_NE(damaged, nullptr);
  EXPECT_THAT(damaged->message, HasSubstr("manifest.json: not a regular file; the world size is taken from"));
  EXPECT_THAT(said_unreadable(job), testing::IsEmpty());
}

// Neither a manifest nor the other ranks say how many there are: the file's name does.
TEST(UnreadableFiles, ARankOfWhichNothingIsLeftIsNamed) {
  for (const std::size_t left : {0U, 4U, 10U, 31U}) {
    const TemporaryFolder folder;
    write_small_rank(folder / "rank-0.lst", 0);
    write_small_rank(folder / "whole", 2);
    std::ifstream whole(folder / "whole", std::ios::binary);
    std::string bytes(left, '\0');
    whole.read(bytes.data(), static_cast<std::streamsize>(left));
    folder.write("rank-2.lst", bytes);
    const Job job = must(import_job({folder.path().string()}));
    EXPECT_EQ(job.world_size, 3) << left;
    EXPECT_THAT(job.ranks_missing, ElementsAre(1, 2)) << left;
    EXPECT_EQ(find_warning(job.warnings, "world_size_mismatch"), nullptr) << left;
    const Warning* const warning = find_warning(job.warnings, "file_unreadable");
    ASSERT_NE(warning, nullptr) << left;
    EXPECT_EQ(warning->rank, 2) << left;
    EXPECT_THAT(warning->message, testing::StartsWith("rank 2: nothing of it can be read: ")) << left;
    EXPECT_THAT(warning->message, HasSubstr("rank-2.lst")) << left;
  }
}

TEST(UnreadableFiles, ARankThatAnotherFileTellsOfIsNotSaidToBeLost) {
  const TemporaryFolder folder;
  write_small_rank(folder / "rank-0.lst", 0);
  write_small_rank(folder / "copy.lst", 1);
  const std::string empty = folder.write("rank-1.lst", "");
  const Job job = must(import_job({folder / "rank-0.lst", folder / "copy.lst", empty}));
  EXPECT_THAT(job.ranks_missing, testing::IsEmpty());
  EXPECT_THAT(said_unreadable(job), ElementsAre(empty + ": the file is empty"));
}

}  // namespace
}  // namespace lockstep::analyzer
