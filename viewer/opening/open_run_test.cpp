#include "viewer/opening/open_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "analyzer/import/generated_kineto.h"
#include "analyzer/import/rank/communication_patterns.h"
#include "tests/temporary_folder.h"
#include "trace/writer.h"
#include "viewer/opening/prepared_file.h"

namespace lockstep::viewer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A rank that computes `count` times for 10 ns.
void write_rank(const test::TemporaryFolder& folder, int rank, int count) {
  fs::remove(folder / ("rank-" + std::to_string(rank) + ".lst"));  // the writer overwrites nothing
  trace::Writer writer =
      trace::Writer::create((folder / ("rank-" + std::to_string(rank) + ".lst")).c_str()).value();
  writer.set_metadata("rank", std::to_string(rank));
  writer.set_metadata("world_size", "2");
  writer.set_metadata("host", "node");
  const trace::LaneId lane = writer.add_lane({trace::LaneKind::device_stream, 1, 7, 0, "stream 7"});
  const trace::StringId name = writer.intern("gemm");
  for (int i = 0; i < count; ++i)
    writer.append(trace::DeviceActivity{.lane = lane, .begin = 100 * i, .end = 100 * i + 10, .name = name});
  ASSERT_TRUE(writer.close().ok());
}

// Something that only makes the run large enough to be kept.
void make_large(const test::TemporaryFolder& folder) {
  fs::resize_file(folder.write("notes.txt", ""), kWorthKeeping);
}

class OpenRun : public testing::Test {
 protected:
  OpenRun() {
    write_rank(folder_, 0, 50);
    write_rank(folder_, 1, 70);
  }
  std::vector<std::string> paths() const { return {folder_.path().string()}; }
  std::unique_ptr<Scene> open(bool keep = true, analyzer::Clocks clocks = analyzer::Clocks::automatic) {
    OpenOptions options;
    options.keep = keep;
    options.clocks = clocks;
    return open(std::move(options));
  }
  std::unique_ptr<Scene> open(OpenOptions options) {
    stages_.clear();
    options.progress = [this](OpeningStage stage, double) { stages_.insert(to_string(stage)); };
    auto scene = open_run(paths(), options);
    EXPECT_TRUE(scene.ok()) << (scene.ok() ? "" : scene.error().message);
    return scene.ok() ? std::move(scene).value() : nullptr;
  }
  test::TemporaryFolder folder_;
  std::set<std::string> stages_;
};

TEST_F(OpenRun, ASmallRunLeavesNothingBehind) {
  const auto scene = open();
  ASSERT_EQ(scene->timeline().ranks.size(), 2u);
  EXPECT_EQ(scene->data(1).activities.size(), 70u);
  EXPECT_EQ(scene->string(scene->data(1).activities[0].name), "gemm");
  EXPECT_FALSE(fs::exists(prepared_file_of(paths())));
}

TEST_F(OpenRun, ALargeRunIsPreparedOnceAndMappedFromThenOn) {
  make_large(folder_);
  const auto first = open();
  EXPECT_THAT(stages_, testing::ElementsAre("analyzing", "preparing", "reading"));
  ASSERT_TRUE(fs::exists(folder_.path() / ".lockstep-view"));
  const auto second = open();
  EXPECT_TRUE(stages_.empty()) << "nothing is read again";
  ASSERT_EQ(second->timeline().ranks.size(), 2u);
  EXPECT_EQ(second->data(1).activities.size(), 70u);
  EXPECT_EQ(second->contents().verdict, first->contents().verdict);
}

TEST_F(OpenRun, AFirstPictureComesBeforeTheRunIsRead) {
  make_large(folder_);
  std::vector<std::string> calls;
  OpenOptions options;
  options.progress = [&calls](OpeningStage stage, double) {
    if (calls.empty() || calls.back() != to_string(stage)) calls.emplace_back(to_string(stage));
  };
  options.preview = [&calls](const RunPreview& preview) {
    EXPECT_EQ(preview.ranks.size(), 2u);
    EXPECT_EQ(preview.events, 120u);
    calls.emplace_back("preview");
  };
  ASSERT_TRUE(open_run(paths(), options).ok());
  EXPECT_THAT(calls, testing::ElementsAre("preview", "reading", "analyzing", "preparing"));
  calls.clear();
  ASSERT_TRUE(open_run(paths(), options).ok());
  EXPECT_TRUE(calls.empty()) << "what was prepared is there at once";
}

// Files that have no index show each rank as soon as it is read.
TEST(OpenKineto, ShowsRanksWhileOthersAreRead) {
  const test::TemporaryFolder folder;
  std::uint64_t kernels = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const auto made =
        analyzer::generate_kineto(folder / ("rank-" + std::to_string(rank) + ".json"),
                                  {.least_bytes = kWorthKeeping / 3 + 1, .rank = rank, .world_size = 3});
    ASSERT_TRUE(made.ok());
    kernels += made.value().kernels + made.value().copies;
  }
  std::vector<std::size_t> ranks;
  RunPreview last;
  bool analyzing = false;
  OpenOptions options;
  options.progress = [&](OpeningStage stage, double) { analyzing = stage != OpeningStage::reading; };
  options.preview = [&](RunPreview preview) {
    EXPECT_FALSE(analyzing);
    ranks.push_back(preview.ranks.size());
    last = std::move(preview);
  };
  const auto first = open_run({folder.path().string()}, options);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_THAT(ranks, testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(last.events, kernels);
  std::uint64_t drawn = 0;
  for (std::size_t rank = 0; rank < 3; ++rank) drawn += first.value()->data(rank).activities.size();
  EXPECT_EQ(last.events, drawn);
  ranks.clear();
  ASSERT_TRUE(open_run({folder.path().string()}, options).ok());
  EXPECT_THAT(ranks, testing::IsEmpty()) << "prepared by now";
}

TEST_F(OpenRun, ARunThatChangedIsPreparedAgain) {
  make_large(folder_);
  open();
  write_rank(folder_, 1, 71);
  EXPECT_EQ(open()->data(1).activities.size(), 71u);
  EXPECT_FALSE(stages_.empty());
}

TEST_F(OpenRun, APreparedFileThatIsDamagedIsMadeAgain) {
  make_large(folder_);
  open();
  fs::resize_file(folder_.path() / ".lockstep-view", 1000);
  EXPECT_EQ(open()->data(0).activities.size(), 50u);
  EXPECT_GT(fs::file_size(folder_.path() / ".lockstep-view"), 1000u);
}

// Both ranks are on one host, and no operation of both relates their clocks.
TEST_F(OpenRun, WhatIsPreparedIsGoodForItsClocksAlone) {
  make_large(folder_);
  EXPECT_TRUE(open()->rank(1).clock.related);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(open(true, analyzer::Clocks::each_rank)->rank(1).clock.related);
    EXPECT_EQ(stages_.empty(), i == 1) << "prepared once";
  }
  EXPECT_TRUE(open()->rank(1).clock.related);
  EXPECT_TRUE(open(false)->rank(1).clock.related);
  EXPECT_FALSE(open(false, analyzer::Clocks::each_rank)->rank(1).clock.related);
}

// Of the kernels "gemm" of both ranks.
TEST_F(OpenRun, WhatIsPreparedIsGoodForWhatCommunicatesAlone) {
  make_large(folder_);
  const auto class_in = [](const Scene& scene) { return scene.data(0).activities[0].activity_class; };
  EXPECT_EQ(class_in(*open()), analyzer::Class::compute);
  for (const char* pattern : {"gemm=all_reduce", "gemm=all_gather"}) {
    OpenOptions options;
    options.communication = analyzer::CommunicationPatterns::parse({pattern}).value();
    for (int i = 0; i < 2; ++i) {
      const auto scene = open(options);
      EXPECT_EQ(stages_.empty(), i == 1) << pattern << ": prepared once";
      EXPECT_EQ(class_in(*scene), analyzer::Class::collective);
      EXPECT_EQ(to_string(scene->data(0).communications[0].operation), std::string(pattern).substr(5));
    }
  }
  EXPECT_EQ(class_in(*open()), analyzer::Class::compute);
}

TEST_F(OpenRun, WhatIsPreparedIsGoodForItsCycleAlone) {
  make_large(folder_);
  open();
  OpenOptions options;
  options.cycle = 1;  // there is one
  for (int i = 0; i < 2; ++i) {
    open(options);
    EXPECT_EQ(stages_.empty(), i == 1) << "prepared once";
  }
}

TEST_F(OpenRun, WhatIsPreparedIsGoodForAllStepsAlone) {
  make_large(folder_);
  open();
  OpenOptions options;
  options.all_steps = true;
  for (int i = 0; i < 2; ++i) {
    open(options);
    EXPECT_EQ(stages_.empty(), i == 1) << "prepared once";
  }
}

TEST_F(OpenRun, NothingIsKeptUnlessAllowed) {
  make_large(folder_);
  open(false);
  EXPECT_FALSE(fs::exists(folder_.path() / ".lockstep-view"));
}

TEST_F(OpenRun, ThePreparedFileIsNoPartOfTheRun) {
  make_large(folder_);
  const std::uint64_t before = look_at(paths()).fingerprint;
  open();
  EXPECT_EQ(look_at(paths()).fingerprint, before);
}

TEST_F(OpenRun, WhatIsNotThereIsAnError) {
  const auto scene = open_run({folder_ / "absent"});
  ASSERT_FALSE(scene.ok());
  EXPECT_THAT(scene.error().message, HasSubstr("absent"));
}

TEST(PreparedFile, StandsBesideItsInput) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("trace.json", "{}");
  EXPECT_EQ(prepared_file_of({folder.path().string()}), folder.path() / ".lockstep-view");
  EXPECT_EQ(prepared_file_of({file}), folder.path() / "trace.json.lockstep-view");
  const std::string other = folder.write("other.json", "{}");
  EXPECT_NE(prepared_file_of({file, other}), prepared_file_of({file}));
  EXPECT_NE(prepared_file_of({file, other}), prepared_file_of({other, file}));
}

}  // namespace
}  // namespace lockstep::viewer
