// The parts of `lockstep record` that need no job: names, folders, words. Whole recordings:
// tests/end_to_end/record_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tracer/record/child.h"
#include "tracer/record/launch.h"
#include "tracer/record/manifest.h"
#include "tracer/record/progress.h"
#include "tracer/record/run_folder.h"

namespace lockstep::tracer::record {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  ~FolderTest() override { fs::remove_all(folder_); }
  void write(const fs::path& name, const std::string& text = "x") {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  fs::path folder_;
};

using RunFolderTest = FolderTest;

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
  for (const char* name : {"manifest.json", "manifest-rank-12.json", "rank-0.lst", "proc-a-1.lst"}) {
    EXPECT_TRUE(is_run_file_name(name)) << name;
  }
  for (const char* name :
       {"manifest-rank-.json", "manifest-rank-x.json", "manifest.json.bak", "a.lst", "report.json"}) {
    EXPECT_FALSE(is_run_file_name(name)) << name;
  }
}

std::string launch(const std::map<std::string, std::string>& variables) {
  return launch_name([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(LaunchName, IsThatOfTheStep) {
  EXPECT_EQ(launch({}), "");
  EXPECT_EQ(launch({{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}}), "slurm-12.3");
  EXPECT_EQ(launch({{"SLURM_JOB_ID", "12"}}), "") << "the batch script itself is no step";
  EXPECT_EQ(launch({{"PMIX_NAMESPACE", "ns"}, {"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}}), "ompi-ns");
  EXPECT_NE(launch({{"TORCHELASTIC_RUN_ID", "none"}, {"MASTER_PORT", "1"}}),
            launch({{"TORCHELASTIC_RUN_ID", "none"}, {"MASTER_PORT", "2"}}));
}

TEST(Words, AreReadable) {
  EXPECT_EQ(readable_bytes(999), "999 bytes");
  EXPECT_EQ(readable_bytes(1000), "1.0 kB");
  EXPECT_EQ(readable_bytes(3'249'000), "3.2 MB");
  EXPECT_EQ(readable_bytes(999'960), "1.0 MB");
  EXPECT_EQ(readable_count(0), "0");
  EXPECT_EQ(readable_count(999), "999");
  EXPECT_EQ(readable_count(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "rank", "ranks"), "1 rank");
  EXPECT_EQ(counted(0, "rank", "ranks"), "0 ranks");
  EXPECT_EQ(readable_duration(12'340'000'000), "12.3 s");
  EXPECT_EQ(readable_duration(245'000'000'000), "4:05");
  EXPECT_EQ(readable_duration(3'723'000'000'000), "1:02:03");
  EXPECT_EQ(to_utc(1'700'000'000'123'456'789), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(77), "signal 77");
}

TEST(ProgressLine, SaysWhatThereIs) {
  using std::chrono::seconds;
  EXPECT_EQ(progress_line(seconds(3), 0, 0, 0), "lockstep: 3.0 s, nothing to record yet");
  EXPECT_EQ(progress_line(seconds(62), 4, 1, 3'200'000),
            "lockstep: 1:02 recorded, 4 ranks, 1 other process, 3.2 MB");
  EXPECT_EQ(progress_line(seconds(62), 0, 2, 0), "lockstep: 1:02 recorded, 2 processes, 0 bytes");
}

TEST(ManifestDocument, SaysHowTheJobEndedAndWhatIsMissing) {
  Manifest manifest;
  manifest.command = {"train", "--name", "a\"b\xFF"};
  manifest.ending = Ending{0, SIGKILL};
  Recording recording;
  recording.world_size = 2;
  recording.missing_ranks = {0};
  recording.dropped["ring full"] = 5;
  RecordedFile file;
  file.rank = 1;
  file.file = "rank-1.lst";
  file.host = "node";
  file.clock_source = "tsc";
  recording.ranks.push_back(file);
  recording.groups.push_back({.name = "data_parallel", .ranks = {0, 1}});
  manifest.recording = recording;
  const nlohmann::json json = nlohmann::json::parse(to_json(manifest));
  EXPECT_EQ(json.at("format"), "lockstep.run/1");
  EXPECT_EQ(json.at("state"), "finished");
  EXPECT_EQ(json.at("exit_code"), nullptr);
  EXPECT_EQ(json.at("signal").at("name"), "SIGKILL");
  EXPECT_EQ(json.at("command").at(2), "a\"b\uFFFD");
  EXPECT_EQ(json.at("world_size"), 2);
  EXPECT_EQ(json.at("missing_ranks"), nlohmann::json::array({0}));
  EXPECT_EQ(json.at("topology"), nlohmann::json::parse(R"([{"host": "node", "ranks": [1]}])"));
  EXPECT_EQ(json.at("groups"), nlohmann::json::parse(R"([{"name": "data_parallel", "ranks": [0, 1]}])"));
  EXPECT_EQ(json.at("clock_sources").at("node"), nlohmann::json::array({"tsc"}));
  EXPECT_EQ(json.at("sources").at("nvtx").at("state"), "recorded");
  EXPECT_THAT(json.at("sources").at("nvtx").at("could_not_record").at(0), HasSubstr("5 events: ring full"));
  manifest.ending.reset();
  manifest.recording.reset();
  const nlohmann::json running = nlohmann::json::parse(to_json(manifest));
  EXPECT_EQ(running.at("state"), "running");
  EXPECT_EQ(running.count("exit_code"), 0U);
}

TEST(ManifestDocument, RecordersOtherThanRankZeroWriteBesideIt) {
  Manifest manifest;
  EXPECT_EQ(manifest_name(manifest), "manifest.json");
  manifest.recorder.rank = 3;
  EXPECT_EQ(manifest_name(manifest), "manifest.json");
  manifest.launch = "slurm-1.0";
  EXPECT_EQ(manifest_name(manifest), "manifest-rank-3.json");
  manifest.recorder.rank = 0;
  EXPECT_EQ(manifest_name(manifest), "manifest.json");
}

TEST_F(FolderTest, CommandsAreLookedUpAsExecWill) {
  EXPECT_FALSE(look_up("sh").has_value());
  EXPECT_FALSE(look_up("/bin/sh").has_value());
  EXPECT_EQ(look_up("no-such-command-anywhere")->exit_code, 127);
  EXPECT_EQ(look_up((folder_ / "nothing").string())->exit_code, 127);
  EXPECT_EQ(look_up("/etc/passwd/inside")->exit_code, 127);
  EXPECT_EQ(look_up(folder_.string())->exit_code, 126) << "a folder";
  write("text");
  EXPECT_EQ(look_up((folder_ / "text").string())->exit_code, 126) << "no execute permission";
}

}  // namespace
}  // namespace lockstep::tracer::record
