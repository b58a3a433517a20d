// Several recorders that start at once: who gets which place in a run folder, and who gets none.
#include "tracer/recorder/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/run_folder.h"

namespace lockstep::tracer::record {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kRounds = 40;
constexpr int kRecorders = 8;
constexpr int kClaimed = 0;
constexpr int kRefused = 1;
constexpr int kFailed = 2;

class ClaimTest : public testing::Test {
 protected:
  // As `lockstep record` begins.
  static int begin(const fs::path& run, const Launch& launch) {
    if (!prepare_run_folder(run, false, launch.name).ok()) return kRefused;
    Manifest manifest;
    manifest.launch = launch.name;
    manifest.host = host_name();
    manifest.start_realtime = getpid();
    const Result<bool> claimed = claim(manifest, run, launch);
    if (!claimed.ok()) return kFailed;
    return claimed.value() ? kClaimed : kRefused;
  }

  // Each in a process of its own. How they ended.
  static std::vector<int> begin_at_once(const fs::path& run, const std::function<Launch(int)>& launch_of) {
    std::vector<pid_t> recorders;
    for (int number = 0; number < kRecorders; ++number) {
      const pid_t child = fork();
      if (child == 0) {
        try {
          _exit(begin(run, launch_of(number)));
        } catch (...) {  // a second test program would go on from here
          _exit(kFailed);
        }
      }
      recorders.push_back(child);
    }
    std::vector<int> endings;
    for (const pid_t recorder : recorders) {
      int status = -1;
      EXPECT_EQ(waitpid(recorder, &status, 0), recorder);
      endings.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : kFailed);
    }
    return endings;
  }

  static std::vector<std::string> names_in(const fs::path& run) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(run)) names.push_back(entry.path().filename());
    return names;
  }

  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void write(const fs::path& name, const std::string& text) { temporary_.write(name, text); }

  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(ClaimTest, RecordersOfOneLaunchMayAllStartAtOnce) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const fs::path run = folder_ / std::to_string(round);
    const std::vector<int> endings = begin_at_once(run, [](int rank) {
      return Launch{"slurm-1.0", rank == 0 ? "" : "rank-" + std::to_string(rank)};
    });
    EXPECT_THAT(endings, testing::Each(kClaimed));
    EXPECT_EQ(names_in(run).size(), std::size_t{kRecorders}) << "a manifest each, and no unfinished file";
  }
}

// Open MPI's variables without those of its job: each recorder believes to be alone.
TEST_F(ClaimTest, OfRecordersWithoutALaunchOneGetsIt) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const fs::path run = folder_ / std::to_string(round);
    const std::vector<int> endings = begin_at_once(run, [](int) { return Launch{}; });
    EXPECT_EQ(std::count(endings.begin(), endings.end(), kClaimed), 1);
    EXPECT_EQ(std::count(endings.begin(), endings.end(), kFailed), 0);
    EXPECT_THAT(names_in(run), testing::ElementsAre("manifest.json"));
  }
}

// Which may leave nobody: never two.
TEST_F(ClaimTest, TwoLaunchesNeverShare) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const fs::path run = folder_ / std::to_string(round);
    const std::vector<int> endings = begin_at_once(run, [](int number) {
      const int rank = number / 2;
      return Launch{number % 2 == 0 ? "slurm-1.0" : "slurm-2.0",
                    rank == 0 ? "" : "rank-" + std::to_string(rank)};
    });
    bool first = false;
    bool second = false;
    for (std::size_t i = 0; i < endings.size(); ++i)
      if (endings[i] == kClaimed) (i % 2 == 0 ? first : second) = true;
    EXPECT_FALSE(first && second);
  }
}

TEST_F(ClaimTest, ARunOfTheSameNameBeforeIsNotWrittenOver) {
  const fs::path run = folder_ / "run";
  const Launch launch{"torchrun-node0:29500-2", "rank-1"};
  ASSERT_EQ(begin(run, launch), kClaimed);
  const std::string before = text_of(run / "manifest-rank-1.json");
  EXPECT_EQ(begin(run, launch), kRefused);
  EXPECT_EQ(text_of(run / "manifest-rank-1.json"), before);
  EXPECT_THAT(why_refused(run, launch.name).message, HasSubstr("delete the folder before the job"));
  EXPECT_THAT(why_refused(run, "").message, HasSubstr("holds a run already"));
}

TEST_F(ClaimTest, NodesTakePlacesAsTheyComeWhileTheRunLasts) {
  write("manifest.json",
        R"({"format": "lockstep.run/1", "launch": "torchrun-a", "state": "running", "host": "far"})");
  EXPECT_EQ(begin(folder_, Launch{"torchrun-a", "node-b-1", true, true}), kClaimed);
  EXPECT_TRUE(fs::exists(folder_ / "manifest-node-b-1.json"));
  fs::remove(folder_ / "manifest-node-b-1.json");
  write("manifest.json",
        R"({"format": "lockstep.run/1", "launch": "torchrun-a", "state": "finished", "host": "far"})");
  EXPECT_EQ(begin(folder_, Launch{"torchrun-a", "node-b-1", true, true}), kRefused) << "a run before";
  EXPECT_THAT(names_in(folder_), testing::ElementsAre("manifest.json"));
}

TEST_F(ClaimTest, WhoWasAloneTakesTheFirstPlaceAtTheEnd) {
  Manifest manifest;
  const Launch launch{"torchrun-a", "node-1", true};
  manifest.launch = launch.name;
  ASSERT_TRUE(claim(manifest, folder_, launch).ok());
  take_first_place(manifest, folder_);
  EXPECT_EQ(manifest.place, "");
  EXPECT_THAT(names_in(folder_), testing::ElementsAre("manifest.json"));
  Manifest other = manifest;
  other.place = "node-2";
  ASSERT_TRUE(create_manifest(other, folder_).value());
  take_first_place(other, folder_);
  EXPECT_EQ(other.place, "node-2") << "it is taken";
}

}  // namespace
}  // namespace lockstep::tracer::record
