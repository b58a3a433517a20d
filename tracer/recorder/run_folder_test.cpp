// The folder of a run: what is taken, and what is refused. Recorders that start at once: claim_test.cpp.
#include "tracer/recorder/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "trace/writer.h"
#include "tracer/recorder/recording.h"

namespace lockstep::tracer::record {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunFolderTest : public testing::Test {
 protected:
  void write(const fs::path& name, const std::string& text = "x") { temporary_.write(name, text); }
  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(RunFolderTest, IsCreatedWithItsParents) {
  const Result<RunFolder> folder = prepare_run_folder(folder_ / "a" / "b", false, "");
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(folder.value().created);
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
}

TEST_F(RunFolderTest, AnEmptyOneIsTaken) {
  const Result<RunFolder> folder = prepare_run_folder(folder_, false, "");
  ASSERT_TRUE(folder.ok());
  EXPECT_FALSE(folder.value().created);
}

TEST_F(RunFolderTest, AFileIsNoFolder) {
  write("file");
  const Result<RunFolder> folder = prepare_run_folder(folder_ / "file", true, "");
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message, HasSubstr("is a file"));
}

TEST_F(RunFolderTest, ARunIsOverwrittenOnlyWithForce) {
  write("manifest.json", R"({"format": "lockstep.run/1"})");
  write("rank-0.lst");
  write("manifest-rank-3.json");
  write("proc-node-7-2.lst");
  write("notes.txt");
  fs::create_directory(folder_ / "rank-1.lst");  // a folder of that name isn't ours
  EXPECT_FALSE(prepare_run_folder(folder_, false, "").ok());
  EXPECT_TRUE(fs::exists(folder_ / "rank-0.lst"));
  ASSERT_TRUE(prepare_run_folder(folder_, true, "").ok());
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_)) left.push_back(entry.path().filename());
  EXPECT_THAT(left, testing::UnorderedElementsAre("notes.txt", "rank-1.lst"));
}

TEST_F(RunFolderTest, WithoutAManifestOnlyARunsFilesMakeARun) {
  write("rank-0.lst");
  EXPECT_TRUE(prepare_run_folder(folder_, true, "").ok());
  write("rank-0.lst");
  write("thesis.tex");
  const Result<RunFolder> folder = prepare_run_folder(folder_, true, "");
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message, HasSubstr("thesis.tex"));
  EXPECT_TRUE(fs::exists(folder_ / "rank-0.lst"));
}

TEST_F(RunFolderTest, SymbolicLinksAreNotFollowedWhenDeleting) {
  write("elsewhere/data");
  fs::create_directory(folder_ / "run");
  write("run/manifest.json", R"({"format": "lockstep.run/1"})");
  fs::create_symlink(folder_ / "elsewhere" / "data", folder_ / "run" / "rank-0.lst");
  ASSERT_TRUE(prepare_run_folder(folder_ / "run", true, "").ok());
  EXPECT_TRUE(fs::exists(folder_ / "elsewhere" / "data"));
}

TEST_F(RunFolderTest, RecordersOfOneLaunchShareIt) {
  write("manifest-rank-1.json", R"({"format": "lockstep.run/1", "launch": "slurm-1.0"})");
  EXPECT_TRUE(prepare_run_folder(folder_, false, "slurm-1.0").ok());
  EXPECT_FALSE(prepare_run_folder(folder_, false, "slurm-1.1").ok());
  EXPECT_FALSE(prepare_run_folder(folder_, true, "slurm-1.1").ok()) << "others may be writing";
  EXPECT_FALSE(prepare_run_folder(folder_, false, "").ok());
}

TEST_F(RunFolderTest, ARunOfAnotherHostIsSaidToBe) {
  write("manifest.json", R"({"format": "lockstep.run/1", "state": "running", "host": "node-far-away"})");
  const Result<RunFolder> folder = prepare_run_folder(folder_, false, "");
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message, HasSubstr("recorded into from host 'node-far-away'"));
  EXPECT_THAT(folder.error().message, HasSubstr("lockstep collect NAME-* -o NAME"));
}

TEST_F(RunFolderTest, WhatAnotherRecorderIsAboutToRenameIsNobodysFile) {
  write("manifest.json.3457.part", R"({"format": "lockstep.run/1", "lau)");
  EXPECT_TRUE(prepare_run_folder(folder_, false, "slurm-1.0").ok());
  EXPECT_TRUE(prepare_run_folder(folder_, false, "").ok());
  write("manifest-rank-1.json", R"({"format": "lockstep.run/1", "launch": "slurm-1.0"})");
  write("hang-rank-1.json.part");
  EXPECT_TRUE(prepare_run_folder(folder_, false, "slurm-1.0").ok());
  ASSERT_TRUE(prepare_run_folder(folder_, true, "").ok());
  EXPECT_TRUE(fs::is_empty(folder_)) << "what a killed recorder left goes with its run";
  write("manifest.json.x.part");
  write("thesis.7.part");
  EXPECT_FALSE(prepare_run_folder(folder_, true, "").ok());
  EXPECT_TRUE(fs::exists(folder_ / "thesis.7.part"));
}

// A process that has ended and was waited for: its number is free.
pid_t process_that_is_gone() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST_F(RunFolderTest, CopiesThatAKilledRecorderLeftGoWithItsRun) {
  const std::string left = "rank-0.lst.compact-" + std::to_string(process_that_is_gone());
  const std::string being_made = "rank-1.lst.compact-" + std::to_string(getpid());
  write(left);
  write(being_made);
  EXPECT_TRUE(prepare_run_folder(folder_, false, "").ok()) << "they are nobody's files";
  EXPECT_TRUE(fs::exists(folder_ / left));
  write("rank-0.lst");
  ASSERT_TRUE(prepare_run_folder(folder_, true, "").ok());
  EXPECT_FALSE(fs::exists(folder_ / left));
  EXPECT_TRUE(fs::exists(folder_ / being_made)) << "its process is there";
  fs::remove(folder_ / being_made);
  write("thesis.compact-7");
  write("rank-0.lst.compact-x");
  EXPECT_FALSE(prepare_run_folder(folder_, true, "").ok());
  EXPECT_TRUE(fs::exists(folder_ / "thesis.compact-7"));
}

TEST_F(RunFolderTest, CopiesThatAKilledRecorderLeftGoAtTheNextCompaction) {
  const auto write_trace = [&](const std::string& name, const std::string& host) {
    Result<trace::Writer> writer = trace::Writer::create((folder_ / name).c_str());
    ASSERT_TRUE(writer.ok());
    writer.value().set_metadata("host", host);
    ASSERT_TRUE(writer.value().close().ok());
  };
  write_trace("rank-0.lst", "here");
  write_trace("rank-1.lst", "elsewhere");
  const std::string gone = ".compact-" + std::to_string(process_that_is_gone());
  const std::string being_made = "rank-0.lst.compact-1";  // of a process that is always there
  for (const std::string& name : {"rank-0.lst" + gone, "rank-1.lst" + gone, "thesis" + gone, being_made})
    write(name);
  compact_files(folder_, "here", -1);
  EXPECT_FALSE(fs::exists(folder_ / ("rank-0.lst" + gone)));
  EXPECT_TRUE(fs::exists(folder_ / ("rank-1.lst" + gone))) << "nobody knows here what lives on another host";
  EXPECT_TRUE(fs::exists(folder_ / ("thesis" + gone)));
  EXPECT_TRUE(fs::exists(folder_ / being_made)) << "its process is there";
}

TEST_F(RunFolderTest, SmallChunksAreJoinedWhileTheUserIsExpectedToWait) {
  const fs::path path = folder_ / "rank-0.lst";
  Result<trace::Writer> writer = trace::Writer::create(path.c_str());
  ASSERT_TRUE(writer.ok());
  writer.value().set_metadata("host", "here");
  const trace::LaneId lane = writer.value().add_lane({trace::LaneKind::host_thread, 1, 2, 0, "main"});
  for (int step = 0; step < 100; ++step) {
    writer.value().append(trace::Step{lane, step * 10, step * 10 + 9, step});
    ASSERT_TRUE(writer.value().flush().ok());
  }
  ASSERT_TRUE(writer.value().close().ok());
  const auto size = fs::file_size(path);
  compact_files(folder_, "here", -1, std::chrono::seconds{0});
  EXPECT_EQ(fs::file_size(path), size);
  compact_files(folder_, "here", -1);
  EXPECT_LT(fs::file_size(path), size);
}

TEST_F(RunFolderTest, NumbersGoUp) {
  EXPECT_EQ(create_numbered_run_folder(folder_).value().path.filename(), "lockstep-run-001");
  fs::create_directory(folder_ / "lockstep-run-002");
  EXPECT_EQ(create_numbered_run_folder(folder_).value().path.filename(), "lockstep-run-003");
}

TEST_F(RunFolderTest, TheLibraryIsFoundBesideTheExecutable) {
  EXPECT_FALSE(find_injection_library(folder_ / "bin" / "lockstep").ok());
  write("lib/x86_64-linux-gnu/liblockstep-inject.so");
  EXPECT_EQ(find_injection_library(folder_ / "bin" / "lockstep").value(),
            folder_ / "lib/x86_64-linux-gnu/liblockstep-inject.so");
  write("lib64/liblockstep-inject.so");
  write("lib/liblockstep-inject.so");
  EXPECT_EQ(find_injection_library(folder_ / "bin" / "lockstep").value(),
            folder_ / "lib/liblockstep-inject.so");
}

TEST(RunFileNames, AreTheRunsOwn) {
  for (const char* name :
       {"manifest.json", "manifest-rank-12.json", "manifest-rank-12-restart-1.json", "manifest-node-1.json",
        "manifest-node-gpu7.cluster-12.json", "rank-0.lst", "proc-a-1.lst"}) {
    EXPECT_TRUE(is_run_file_name(name)) << name;
  }
  for (const char* name :
       {"manifest-rank-.json", "manifest-rank-x.json", "manifest-rank-1-restart-.json", "manifest-node-.json",
        "manifest-node-a b.json", "manifest.json.bak", "a.lst", "report.json"}) {
    EXPECT_FALSE(is_run_file_name(name)) << name;
  }
}

}  // namespace
}  // namespace lockstep::tracer::record
