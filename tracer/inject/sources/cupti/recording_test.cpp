// A program that uses CUDA on a stand-in of driver and CUPTI (stand_in/), recorded by the real library. The
// program's own log of what it did is the oracle: what was read and what was counted as lost must add up to
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "trace/reader.h"

namespace lockstep::tracer::cupti {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Lines = std::multiset<std::string>;

constexpr int kOwnExitCode = 21;

struct Recording {
  int status = 0;  // as wait() has it
  bool exists = false;
  Lines done;  // by the program's log
  Lines read;  // by the recording
  std::map<std::string, std::uint64_t> lost;
  std::vector<trace::Drop> gaps;
  std::map<std::string, std::string> metadata;
  std::vector<trace::Lane> lanes;
  std::uint64_t ranges = 0;

  std::uint64_t losses() const {
    std::uint64_t sum = 0;
    for (const auto& [reason, count] : lost) sum += count;
    return sum;
  }
  std::string said(const std::string& key) const {
    const auto found = metadata.find(key);
    return found == metadata.end() ? "" : found->second;
  }
};

class CuptiRecording : public testing::Test {
 protected:
  CuptiRecording() : folder_(fs::temp_directory_path() / ("lockstep-cupti-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~CuptiRecording() override { fs::remove_all(folder_); }

  pid_t start(const std::string& scenario, const std::string& machine,
              const std::map<std::string, std::string>& variables = {}) {
    const std::string stand_in = STAND_IN_DIR;
    const pid_t child = fork();
    if (child != 0) return child;
    setenv("LOCKSTEP_RUN", folder_.c_str(), 1);
    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "1", 1);
    setenv("CUDA_INJECTION64_PATH", LOCKSTEP_INJECT, 1);
    unsetenv("NVTX_INJECTION64_PATH");
    setenv("LD_LIBRARY_PATH", (stand_in + "/driver:" + stand_in + "/" + machine).c_str(), 1);
    // Other machines' CUPTI is named: the real one may be installed here.
    if (machine != "cuda13") {
      const std::string library = stand_in + "/" + machine + "/libcupti.so.";
      setenv("LOCKSTEP_CUPTI", (library + (machine == "no_driver" ? "13" : "12")).c_str(), 1);
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    const std::string program = stand_in + "/cupti_program";
    execl(program.c_str(), "cupti_program", scenario.c_str(), log().c_str(), nullptr);
    _exit(127);
  }

  Recording record(const std::string& scenario, const std::string& machine = "cuda13",
                   const std::map<std::string, std::string>& variables = {}) {
    const pid_t child = start(scenario, machine, variables);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    Recording recording = read();
    recording.status = status;
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), kOwnExitCode);
    return recording;
  }

  Recording read() {
    Recording recording;
    std::ifstream log_file(log());
    for (std::string line; std::getline(log_file, line);) recording.done.insert(line);
    const fs::path file = folder_ / "rank-0.lst";
    recording.exists = fs::exists(file);
    if (!recording.exists) return recording;
    Result<trace::Reader> opened = trace::Reader::open(file.c_str());
    if (!opened.ok()) {
      ADD_FAILURE() << opened.error().message;
      return recording;
    }
    const trace::Reader& reader = opened.value();
    for (const auto& [key, value] : reader.metadata()) recording.metadata[key] = value;
    recording.lanes = reader.lanes();
    std::vector<trace::DeviceActivity> activities;
    EXPECT_TRUE(reader.read(trace::Selection{}, activities).ok());
    for (const trace::DeviceActivity& event : activities) {
      const trace::Lane& lane = reader.lanes()[event.lane];
      EXPECT_EQ(lane.kind, trace::LaneKind::device_stream);
      recording.read.insert("D " + std::to_string(lane.device) + " " + std::to_string(lane.handle) + " " +
                            std::to_string(event.begin) + " " + std::to_string(event.end) + " " +
                            trace::to_string(event.activity_class) + " " + std::to_string(event.bytes) + " " +
                            std::to_string(event.correlation & 0xFFFFFFFFU) + " " +
                            std::to_string(event.shape) + " " + std::to_string(event.warps) + " " +
                            std::string(reader.string(event.name)));
    }
    std::vector<trace::ApiCall> calls;
    EXPECT_TRUE(reader.read(trace::Selection{}, calls).ok());
    for (const trace::ApiCall& event : calls) {
      const trace::Lane& lane = reader.lanes()[event.lane];
      EXPECT_EQ(lane.kind, trace::LaneKind::host_thread);
      recording.read.insert("C " + std::to_string(lane.handle) + " " + std::to_string(event.begin) + " " +
                            std::to_string(event.end) + " " +
                            std::to_string(event.correlation & 0xFFFFFFFFU) + " " +
                            std::string(reader.string(event.name)));
    }
    std::vector<trace::Drop> drops;
    EXPECT_TRUE(reader.read(trace::Selection{}, drops).ok());
    for (const trace::Drop& drop : drops) {
      EXPECT_EQ(reader.string(drop.source), "cupti");
      if (drop.count == 0) recording.gaps.push_back(drop);
      recording.lost[std::string(reader.string(drop.reason))] += drop.count;
    }
    return recording;
  }

  std::string log() const { return (folder_ / "log").string(); }

  fs::path folder_;
};

// Everything that was done was read, and nothing else; what CUPTI dropped is counted.
void expect_all(const Recording& recording) {
  ASSERT_TRUE(recording.exists);
  Lines expected = recording.done;
  const std::uint64_t dropped = expected.erase("dropped");
  EXPECT_FALSE(expected.empty());
  Lines missing;
  Lines extra;
  std::set_difference(expected.begin(), expected.end(), recording.read.begin(), recording.read.end(),
                      std::inserter(missing, missing.end()));
  std::set_difference(recording.read.begin(), recording.read.end(), expected.begin(), expected.end(),
                      std::inserter(extra, extra.end()));
  EXPECT_EQ(missing.size(), 0U) << "first: " << *missing.begin();
  EXPECT_EQ(extra.size(), 0U) << "first: " << *extra.begin();
  EXPECT_EQ(recording.losses(), dropped);
}

TEST_F(CuptiRecording, EverythingIsRecordedOnce) {
  const Recording recording = record("everything");
  expect_all(recording);
  EXPECT_EQ(recording.said("source.cupti"), "recording");
  EXPECT_EQ(recording.said("source.cupti.problem"), "");
  EXPECT_EQ(recording.said("source.cupti.version"), "130001");
  EXPECT_THAT(recording.said("source.cupti.library"), HasSubstr("cuda13/libcupti.so.13"));
  EXPECT_EQ(recording.said("cuda.device.0.uuid"), "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(recording.said("cuda.device.1.uuid"), "MIG-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
  EXPECT_EQ(recording.said("cuda.device.2.uuid"), "");
  std::set<std::string> names;
  for (const trace::Lane& lane : recording.lanes) {
    if (lane.kind == trace::LaneKind::device_stream) {
      EXPECT_TRUE(names.insert(lane.name).second) << lane.name << " twice";
    }
  }
  // 2 devices, 2 contexts each, 3 streams, and a lane for waiting in each context.
  EXPECT_EQ(names.size(), 16U);
  EXPECT_TRUE(names.contains("GPU 0 stream 7"));
  EXPECT_TRUE(names.contains("GPU 1 context 4 stream 9"));
  EXPECT_TRUE(names.contains("GPU 1 synchronization"));
}

TEST_F(CuptiRecording, OlderCuptiHasOtherRecordsAndFewerFunctions) {
  const Recording recording = record("everything", "cuda12");
  expect_all(recording);
  EXPECT_EQ(recording.said("source.cupti.version"), "18");
}

TEST_F(CuptiRecording, AllCallsOnRequest) {
  const Recording recording = record("all_calls", "cuda13", {{"LOCKSTEP_CUDA_API", "all"}});
  expect_all(recording);
}

TEST_F(CuptiRecording, NodesOfAGraphBelongToItsLaunch) {
  const Recording recording = record("graph");
  expect_all(recording);
  EXPECT_EQ(recording.read.size(), 20U * 51);
}

TEST_F(CuptiRecording, WithoutBuffersCuptiDropsAndItIsCounted) {
  const Recording recording = record("pressure", "cuda13", {{"LOCKSTEP_CUPTI_BUFFERS", "1000000"}});
  expect_all(recording);
  EXPECT_GT(recording.losses(), 1000U);
}

TEST_F(CuptiRecording, MoreThreadsThanBuffers) {
  expect_all(record("threads"));
}

TEST_F(CuptiRecording, AnOldCuptiIsNeverTurnedDown) {
  const Recording recording = record("threads", "cuda12", {{"LOCKSTEP_CUPTI_BUFFERS", "1000000"}});
  // Unread buffers may have been used again: all is read or counted, and nothing was dropped in CUPTI.
  EXPECT_EQ(recording.done.count("dropped"), 0U);
  EXPECT_TRUE(std::includes(recording.done.begin(), recording.done.end(), recording.read.begin(),
                            recording.read.end()));
  EXPECT_EQ(recording.read.size() + recording.losses(), recording.done.size());
}

TEST_F(CuptiRecording, BuffersComeLateAndInAnyOrder) {
  expect_all(record("late"));
}

TEST_F(CuptiRecording, AKernelThatNeverEndedIsCounted) {
  const Recording recording = record("unfinished");
  EXPECT_EQ(recording.read.size(), 20U);
  EXPECT_EQ(recording.losses(), 1U);
  EXPECT_THAT(recording.lost.begin()->first, HasSubstr("still running"));
}

TEST_F(CuptiRecording, UnknownRecordsAreSkippedAndCounted) {
  const Recording recording = record("unknown");
  EXPECT_EQ(recording.read, recording.done);
  EXPECT_EQ(recording.lost.at("records of kinds that are not recorded"), 3U);
  EXPECT_EQ(recording.lost.at("rest of a buffer that could not be read (at least)"), 1U);
}

TEST_F(CuptiRecording, AnotherToolsClockIsNotBelieved) {
  const Recording recording = record("clock");
  EXPECT_EQ(recording.read.size(), 200U);
  EXPECT_EQ(recording.lost.at("times are of another tool's clock"), 200U);
}

TEST_F(CuptiRecording, YieldsToPyTorchsProfilerAndResumes) {
  const Recording recording = record("kineto");
  expect_all(recording);
  ASSERT_EQ(recording.gaps.size(), 3U);
  for (const trace::Drop& gap : recording.gaps) EXPECT_LT(gap.begin, gap.end);
  EXPECT_TRUE(recording.lost.contains("PyTorch's profiler had CUPTI"));
  EXPECT_EQ(recording.said("source.cupti"), "recording");
}

TEST_F(CuptiRecording, LeavesCuptiToAToolThatCannotBeAsked) {
  const Recording recording = record("foreign");
  expect_all(recording);
  ASSERT_EQ(recording.gaps.size(), 1U);
  EXPECT_TRUE(recording.lost.contains("another tool had CUPTI"));
  EXPECT_EQ(recording.said("source.cupti"), "yielded");
}

TEST_F(CuptiRecording, RecordsOnAfterFinalize) {
  const Recording recording = record("finalize");
  expect_all(recording);
  EXPECT_EQ(recording.gaps.size(), 2U);
  EXPECT_TRUE(recording.lost.contains("CUPTI was finalized"));
}

TEST_F(CuptiRecording, AForkedChildTouchesNothing) {
  // In a forked child the allocator's locks are as another thread of the parent held them: looking for leaks
  // there may take for ever.
  expect_all(record("fork", "cuda13", {{"ASAN_OPTIONS", "detect_leaks=0"}}));
  std::set<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
    if (entry.path().filename() != "control") files.insert(entry.path().filename());
  EXPECT_THAT(files, testing::ElementsAre("log", "rank-0.lst"));
}

TEST_F(CuptiRecording, ExitOnAThread) {
  expect_all(record("exit"));
}

TEST_F(CuptiRecording, ADriverThatHangsDoesNotHoldTheProcess) {
  expect_all(record("hang"));
}

TEST_F(CuptiRecording, KilledProcessesLeaveAReadableFile) {
  const pid_t child = start("until_killed", "cuda13");
  Recording recording;
  for (int attempt = 0; attempt < 3000 && recording.read.size() < 2000; ++attempt) {
    usleep(20'000);
    std::error_code not_there_yet;
    if (fs::file_size(folder_ / "rank-0.lst", not_there_yet) == 0 || not_there_yet) continue;
    recording = read();
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  expect_all(read());
}

TEST_F(CuptiRecording, AFullDiskEndsTheRecordingAlone) {
  const Recording recording = record("full_disk");
  EXPECT_TRUE(std::includes(recording.done.begin(), recording.done.end(), recording.read.begin(),
                            recording.read.end()));
  EXPECT_LT(recording.read.size(), recording.done.size());
}

TEST_F(CuptiRecording, AProcessThatLaunchesNothingLeavesNothing) {
  EXPECT_FALSE(record("nothing").exists);
}

TEST_F(CuptiRecording, WhatCannotBeHadIsSaid) {
  Recording recording = record("nothing", "none");  // no CUPTI at all
  EXPECT_EQ(recording.said("source.cupti"), "failed");
  EXPECT_THAT(recording.said("source.cupti.problem"), HasSubstr("libcupti"));
  fs::remove(folder_ / "rank-0.lst");
  recording = record("nothing", "cuda10");
  EXPECT_EQ(recording.said("source.cupti"), "failed");
  EXPECT_THAT(recording.said("source.cupti.problem"), HasSubstr("CUDA 11.8"));
  fs::remove(folder_ / "rank-0.lst");
  recording = record("nothing", "no_driver");
  EXPECT_EQ(recording.said("source.cupti"), "failed");
  EXPECT_THAT(recording.said("source.cupti.problem"), HasSubstr("CUPTI_ERROR_NOT_INITIALIZED"));
}

TEST_F(CuptiRecording, UnderNsightSystemsItKeepsAway) {
  EXPECT_FALSE(record("nothing", "cuda13", {{"NSYS_PROFILING_SESSION_ID", "1"}}).exists);
}

TEST_F(CuptiRecording, OnlyIfWanted) {
  EXPECT_FALSE(record("nothing", "cuda13", {{"LOCKSTEP_SOURCES", "nvtx"}}).exists);
}

}  // namespace
}  // namespace lockstep::tracer::cupti
