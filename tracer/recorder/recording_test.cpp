// What a run's files are said to hold. Joined runs: collect_test.cpp.
#include "tracer/recorder/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/temporary_folder.h"
#include "trace/writer.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/manifest.h"

namespace lockstep::tracer::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

void write_rank_0(const std::filesystem::path& path, const char* restart) {
  Result<trace::Writer> writer = trace::Writer::create(path.c_str());
  ASSERT_TRUE(writer.ok());
  for (const auto& [key, value] : {std::pair{"rank", "0"}, std::pair{"world_size", "2"},
                                   std::pair{"process", "17"}, std::pair{"restart", restart}})
    writer.value().set_metadata(key, value);
  ASSERT_TRUE(writer.value().close().ok());
}

// Its name is all that is known of it.
TEST(Recordings, AFileThatCannotBeReadIsItsRanks) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "rank-1.lst") << "no trace";
  write_rank_0(folder / "rank-0.lst", "0");
  Manifest manifest;
  manifest.recording = read_recording(folder.path());
  EXPECT_THAT(manifest.recording->ranks, SizeIs(2));
  EXPECT_THAT(manifest.recording->processes, IsEmpty());
  EXPECT_EQ(manifest.recording->incomplete_files(), 0U) << "whether it was closed is not known";
  EXPECT_EQ(manifest.recording->unreadable_files(), 1U);
  const nlohmann::json json = nlohmann::json::parse(to_json(manifest));
  EXPECT_EQ(json.at("missing_ranks"), nlohmann::json::array());
  EXPECT_EQ(json.at("ranks").at(1).at("rank"), 1);
  EXPECT_NE(json.at("ranks").at(1).value("problem", ""), "");
  EXPECT_EQ(json.at("topology").at(0).at("ranks"), nlohmann::json::array({0}));
}

TEST(Recordings, AFileThatCannotBeReadIsOfItsAttempt) {
  const test::TemporaryFolder folder;
  write_rank_0(folder / "rank-0.lst", "0");
  std::ofstream(folder / "rank-0-restart-1.lst") << "no trace";
  const Recording recording = read_recording(folder.path());
  ASSERT_THAT(recording.ranks, SizeIs(1));
  EXPECT_EQ(recording.ranks.front().file, "rank-0-restart-1.lst");
  EXPECT_THAT(recording.earlier_attempts, ElementsAre("rank-0.lst"));
  EXPECT_THAT(recording.missing_ranks, ElementsAre(1));
}

TEST(Recordings, ASurvivorThatEndedBeforeItsProcessIsInTheManifest) {
  const test::TemporaryFolder folder;
  {
    Result<trace::Writer> writer = trace::Writer::create((folder / "rank-0.lst").c_str());
    ASSERT_TRUE(writer.ok());
    writer.value().set_metadata("rank", "0");
    writer.value().set_metadata("process", "17");
    writer.value().set_metadata(kSurvivorEndedKey, "1700000000000000000 it was killed or asked to end");
    ASSERT_TRUE(writer.value().close().ok());
  }
  write_rank_0(folder / "rank-1.lst", "0");
  Manifest manifest;
  manifest.recording = read_recording(folder.path());
  const nlohmann::json json = nlohmann::json::parse(to_json(manifest));
  EXPECT_EQ(
      json.at("ranks").at(0).at("survivor_ended"),
      nlohmann::json({{"since", "2023-11-14T22:13:20.000Z"}, {"reason", "it was killed or asked to end"}}));
  EXPECT_FALSE(json.at("ranks").at(1).contains("survivor_ended"));
}

}  // namespace
}  // namespace lockstep::tracer::record
