// Joining runs of several hosts.
#include "tracer/recorder/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/temporary_folder.h"
#include "trace/writer.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/manifest.h"
#include "tracer/recorder/recording.h"

namespace lockstep::tracer::record {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class CollectTest : public testing::Test {
 protected:
  void write_rank(const std::string& run, int rank, int world, const std::string& host) {
    fs::create_directories(folder_ / run);
    Result<trace::Writer> writer = trace::Writer::create((folder_ / run / rank_file_name(rank)).c_str());
    ASSERT_TRUE(writer.ok());
    writer.value().set_metadata("rank", std::to_string(rank));
    writer.value().set_metadata("world_size", std::to_string(world));
    writer.value().set_metadata("host", host);
    writer.value().add_group({"data parallel", "", {0, 1, 2, 3}});
    trace::Lane lane;
    writer.value().add_lane(lane);
    writer.value().append(trace::Step{0, 10, 20, rank});
    ASSERT_TRUE(writer.value().close().ok());
  }
  // With a manifest as record writes it.
  fs::path write_run(const std::string& name, const std::string& host, std::vector<int> ranks,
                     int exit_code = 0) {
    for (const int rank : ranks) write_rank(name, rank, 4, host);
    Manifest manifest;
    manifest.command = {"torchrun", "train.py", host};
    manifest.host = host;
    manifest.start_realtime = 1'700'000'000'000'000'000 + ranks.front();
    manifest.end_realtime = 1'700'000'100'000'000'000 + ranks.front();
    manifest.ending = Ending{exit_code, 0};
    manifest.recording = read_recording(folder_ / name);
    manifest.unrecorded = {{"it is statically linked", 2, {"/bin/job"}, {}, {1000}, {4711}}};
    EXPECT_TRUE(write_manifest(manifest, folder_ / name).ok());
    return folder_ / name;
  }
  nlohmann::json manifest_of(const fs::path& run) {
    std::ifstream file(run / "manifest.json");
    return nlohmann::json::parse(file);
  }
  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(CollectTest, RanksOfAllHostsAreInOneRun) {
  const fs::path b = write_run("b", "node2", {2, 3}, 7);
  const fs::path a = write_run("a", "node1", {0, 1});
  std::ofstream(a / "notes.txt") << "mine";
  std::ofstream(b / "hang-rank-2.json") << "{}";
  const Result<Collected> collected = collect({b, a}, folder_ / "run");
  ASSERT_TRUE(collected.ok()) << collected.error().message;
  EXPECT_EQ(collected.value().ranks, 4U);
  EXPECT_THAT(collected.value().hosts, ElementsAre("node1", "node2"));
  EXPECT_TRUE(collected.value().missing_ranks.empty());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_ / "run")) names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("manifest.json", "rank-0.lst", "rank-1.lst", "rank-2.lst",
                                                   "rank-3.lst", "hang-rank-2.json"));
  const nlohmann::json manifest = manifest_of(folder_ / "run");
  EXPECT_EQ(manifest.at("world_size"), 4);
  EXPECT_EQ(manifest.at("state"), "finished");
  EXPECT_EQ(manifest.at("exit_code"), 7) << "it failed somewhere";
  EXPECT_EQ(manifest.at("command").at(2), "node1") << "rank 0's";
  ASSERT_EQ(manifest.at("unrecorded").size(), 1U);
  EXPECT_EQ(manifest.at("unrecorded").at(0).at("processes"), 4);
  EXPECT_EQ(manifest.at("start_realtime"), 1'700'000'000'000'000'000);
  EXPECT_EQ(manifest.at("end_realtime"), 1'700'000'100'000'000'002);
  EXPECT_EQ(manifest.at("missing_ranks"), nlohmann::json::array());
  EXPECT_EQ(manifest.at("topology"),
            nlohmann::json::parse(R"([{"host":"node1","ranks":[0,1]},{"host":"node2","ranks":[2,3]}])"));
  EXPECT_EQ(manifest.at("groups").size(), 1U);
  EXPECT_EQ(manifest.at("collected_from").size(), 2U);
  // The inputs are as they were.
  EXPECT_TRUE(fs::exists(a / "rank-0.lst"));
  EXPECT_TRUE(fs::exists(b / "rank-3.lst"));
}

// Opening one waits until somebody writes into it: nobody does. A test that waits is ended by its time limit.
TEST_F(CollectTest, NamedPipesAreNotWaitedFor) {
  const fs::path a = write_run("a", "node1", {0, 1}), b = write_run("b", "node2", {2, 3});
  fs::remove(b / "manifest.json");
  for (const char* name : {"manifest.json", "manifest-rank-2.json", "hang-rank-2.json", "rank-9.lst"})
    ASSERT_EQ(mkfifo((b / name).c_str(), 0600), 0);
  const Result<Collected> collected = collect({a, b}, folder_ / "run");
  ASSERT_TRUE(collected.ok()) << collected.error().message;
  EXPECT_EQ(collected.value().ranks, 4U);
  EXPECT_THAT(collected.value().notes, testing::Contains(HasSubstr("'" + b.string() + "' has no manifest")));
  EXPECT_FALSE(fs::exists(folder_ / "run" / "hang-rank-2.json"));
  for (const char* name : {"manifest-rank-2.json", "hang-rank-2.json", "rank-9.lst"})
    EXPECT_THAT(collected.value().notes,
                testing::Contains("'" + (b / name).string() + "' is no regular file, and left out"));
  // Where there is nothing else, nothing is joined.
  for (const char* name : {"rank-2.lst", "rank-3.lst"}) fs::remove(b / name);
  EXPECT_THAT(collect({a, b}, folder_ / "other").error().message,
              HasSubstr("b' holds no trace file: 'rank-9.lst' is no regular file"));
  EXPECT_FALSE(fs::exists(folder_ / "other"));
}

TEST_F(CollectTest, WhatIsStillMissingIsSaid) {
  const Result<Collected> collected =
      collect({write_run("a", "node1", {0}), write_run("b", "node2", {2})}, folder_ / "run");
  ASSERT_TRUE(collected.ok());
  EXPECT_THAT(collected.value().missing_ranks, ElementsAre(1, 3));
}

TEST_F(CollectTest, TheSameRankTwiceIsRefusedByName) {
  const fs::path a = write_run("a", "node1", {0, 1});
  const fs::path b = write_run("b", "node2", {1, 2});
  const Result<Collected> collected = collect({a, b}, folder_ / "run");
  ASSERT_FALSE(collected.ok());
  EXPECT_THAT(collected.error().message, HasSubstr((a / "rank-1.lst").string()));
  EXPECT_THAT(collected.error().message, HasSubstr((b / "rank-1.lst").string()));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(CollectTest, JobsOfOtherSizesAreRefused) {
  const fs::path a = write_run("a", "node1", {0});
  write_rank("b", 1, 8, "node2");
  const Result<Collected> collected = collect({a, folder_ / "b"}, folder_ / "run");
  ASSERT_FALSE(collected.ok());
  EXPECT_THAT(collected.error().message, HasSubstr("4 ranks"));
  EXPECT_THAT(collected.error().message, HasSubstr("of one of 8"));
}

TEST_F(CollectTest, NoRunAndNoPlaceAreErrors) {
  const fs::path a = write_run("a", "node1", {0});
  EXPECT_THAT(collect({folder_ / "nothing"}, folder_ / "run").error().message, HasSubstr("no such folder"));
  fs::create_directory(folder_ / "empty");
  EXPECT_THAT(collect({a, folder_ / "empty"}, folder_ / "run").error().message, HasSubstr("no trace file"));
  bool refused = true;
  EXPECT_FALSE(collect({folder_ / "nothing"}, folder_ / "run", false, &refused).ok());
  EXPECT_FALSE(refused) << "it is the input";
  EXPECT_THAT(collect({a}, a, true, &refused).error().message, HasSubstr("one of the runs to join"));
  EXPECT_TRUE(refused);
  EXPECT_TRUE(fs::exists(a / "rank-0.lst"));
  const fs::path old = write_run("old", "node3", {3});
  EXPECT_THAT(collect({a}, old, false, &refused).error().message, HasSubstr("holds a run already"));
  EXPECT_TRUE(refused);
  EXPECT_TRUE(collect({a}, old, true, &refused).ok());
  EXPECT_FALSE(refused);
  EXPECT_FALSE(fs::exists(old / "rank-3.lst"));
  EXPECT_TRUE(fs::exists(old / "rank-0.lst"));
  EXPECT_TRUE(fs::exists(a / "rank-0.lst"));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(CollectTest, OnADiskOfItsNodeALaterRecordersManifestIsEnough) {
  const fs::path b = write_run("b", "node2", {1}, 7);
  fs::rename(b / "manifest.json", b / "manifest-node-1.json");
  const Result<Collected> collected = collect({write_run("a", "node1", {0}), b}, folder_ / "run");
  ASSERT_TRUE(collected.ok());
  EXPECT_TRUE(collected.value().notes.empty());
  EXPECT_EQ(manifest_of(folder_ / "run").at("exit_code"), 7);
}

TEST_F(CollectTest, AManifestThatIsNotAsItWasWrittenIsSaid) {
  const fs::path a = write_run("a", "node1", {0}), b = write_run("b", "node2", {1});
  std::string text = test::read_whole_file(b / "manifest.json");
  text[text.find("\"exit_code\": 0") + 13] ^= 1;
  temporary_.write("b/manifest.json", text);
  const Result<Collected> collected = collect({a, b}, folder_ / "run");
  ASSERT_TRUE(collected.ok());
  EXPECT_EQ(manifest_of(folder_ / "run").at("exit_code"), 1);
  EXPECT_THAT(collected.value().notes, ElementsAre(HasSubstr("'" + b.string() + "' was damaged or changed")));
}

TEST_F(CollectTest, WithoutAManifestTheTracesAreEnough) {
  write_rank("b", 1, 4, "node2");
  const Result<Collected> collected = collect({write_run("a", "node1", {0}), folder_ / "b"}, folder_ / "run");
  ASSERT_TRUE(collected.ok());
  EXPECT_EQ(collected.value().ranks, 2U);
  EXPECT_THAT(collected.value().notes, ElementsAre(HasSubstr("no manifest")));
}

}  // namespace
}  // namespace lockstep::tracer::record
