// The parts of `lockstep record` that need no job: names, folders, words. Whole recordings:
// tests/end_to_end/record_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/temporary_folder.h"
#include "trace/checked_json.h"
#include "tracer/recorder/child.h"
#include "tracer/recorder/manifest.h"
#include "tracer/recorder/progress.h"

namespace lockstep::tracer::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Words, AreReadable) {
  EXPECT_EQ(readable_bytes(999), "999 bytes");
  EXPECT_EQ(readable_bytes(1000), "1.0 kB");
  EXPECT_EQ(readable_bytes(3'249'000), "3.2 MB");
  EXPECT_EQ(readable_bytes(999'960), "1.0 MB");
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
  EXPECT_TRUE(json.contains("checksum"));
  EXPECT_TRUE(trace::matches_checksum(to_json(manifest)));
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
  EXPECT_EQ(json.count("interrupted"), 0U);
  manifest.ending->interruption = Interruption{SIGINT, 1'700'000'000'000'000'000};
  const nlohmann::json interrupted = nlohmann::json::parse(to_json(manifest)).at("interrupted");
  EXPECT_EQ(interrupted.at("signal").at("name"), "SIGINT");
  EXPECT_EQ(interrupted.at("time"), "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(interrupted.at("time_realtime"), 1'700'000'000'000'000'000);
  manifest.ending.reset();
  manifest.recording.reset();
  const nlohmann::json running = nlohmann::json::parse(to_json(manifest));
  EXPECT_EQ(running.at("state"), "running");
  EXPECT_EQ(running.count("exit_code"), 0U);
}

TEST(Interruptions, AreWhyACommandEndedThatDidNotEndWell) {
  Ending ending;
  ending.exit_code = 1;
  EXPECT_FALSE(was_interrupted(ending));
  ending.interruption = Interruption{SIGINT, 1};
  EXPECT_TRUE(was_interrupted(ending));
  EXPECT_EQ(interruption_in_words(ending), "interrupted by Ctrl-C (SIGINT)");
  ending.exit_code = 0;
  EXPECT_FALSE(was_interrupted(ending)) << "it caught the signal and ended well";
  ending.signal = SIGTERM;
  ending.interruption->signal = SIGTERM;
  EXPECT_TRUE(was_interrupted(ending));
  EXPECT_EQ(interruption_in_words(ending), "interrupted by SIGTERM");
}

TEST(ManifestDocument, RecordersOtherThanTheFirstWriteBesideIt) {
  Manifest manifest;
  EXPECT_EQ(manifest_name(manifest), "manifest.json");
  manifest.place = "rank-3";
  EXPECT_EQ(manifest_name(manifest), "manifest-rank-3.json");
  manifest.place = "node-gpu7-12";
  EXPECT_EQ(manifest_name(manifest), "manifest-node-gpu7-12.json");
}

TEST(ManifestDocument, OneRecorderOfEachAttemptSpeaks) {
  Manifest manifest;
  EXPECT_TRUE(speaks_for_all(manifest));
  manifest.place = "node-1";
  EXPECT_FALSE(speaks_for_all(manifest));
  manifest.place = "rank-1-restart-1";
  manifest.recorder.rank = 1;
  EXPECT_FALSE(speaks_for_all(manifest));
  manifest.place = "rank-0-restart-1";
  manifest.recorder.rank = 0;
  EXPECT_TRUE(speaks_for_all(manifest));
}

TEST(Commands, AreLookedUpAsExecWill) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(look_up("sh").has_value());
  EXPECT_FALSE(look_up("/bin/sh").has_value());
  EXPECT_EQ(look_up("no-such-command-anywhere")->exit_code, 127);
  EXPECT_EQ(look_up(folder / "nothing")->exit_code, 127);
  EXPECT_EQ(look_up("/etc/passwd/inside")->exit_code, 127);
  EXPECT_EQ(look_up(folder.path().string())->exit_code, 126) << "a folder";
  EXPECT_EQ(look_up(folder.write("text", "x"))->exit_code, 126) << "no execute permission";
}

}  // namespace
}  // namespace lockstep::tracer::record
