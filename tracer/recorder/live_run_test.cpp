// Who records into a folder, and what has vanished from it. With real recorders:
// tests/end_to_end/record_live_run_test.cpp.
#include "tracer/recorder/live_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/temporary_folder.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/survivors.h"

namespace lockstep::tracer::record {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class LiveRunTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  void write_manifest(const std::string& state, long process) {
    write("manifest.json", R"({"state": ")" + state + R"(", "host": ")" + host_name() +
                               R"(", "start_realtime": 5, "recorder_process": )" + std::to_string(process) +
                               "}");
  }
  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(LiveRunTest, NumbersThatAreNoRecordersDoNotCount) {
  EXPECT_FALSE(is_recorder(getpid()));
  EXPECT_FALSE(is_recorder(getppid())) << "alive, but no lockstep record";
  EXPECT_FALSE(is_recorder(0));
  EXPECT_FALSE(is_recorder(-1));
  EXPECT_FALSE(who_records_into(folder_ / "nothing").has_value());
  write_manifest("running", getppid());
  EXPECT_FALSE(who_records_into(folder_).has_value());
  write("manifest.json", "no JSON");
  EXPECT_FALSE(who_records_into(folder_).has_value());
}

TEST_F(LiveRunTest, WhatVanishesIsMissed) {
  write_manifest("running", getpid());
  write("rank-0.lst", "");
  write("rank-1.lst", "");
  FolderWatch watch(folder_, "manifest.json", 5);
  watch.look();
  EXPECT_THAT(watch.vanished(), IsEmpty());
  EXPECT_FALSE(watch.was_taken());
  fs::remove(folder_ / "rank-1.lst");
  EXPECT_THAT(watch.vanished(), ElementsAre("rank-1.lst"));
  write_manifest("running", getppid());
  EXPECT_TRUE(watch.belongs_to_another());
  fs::remove_all(folder_);
  EXPECT_TRUE(watch.was_taken());
  EXPECT_FALSE(watch.belongs_to_another()) << "there is none";
  EXPECT_THAT(watch.vanished(), ElementsAre("rank-0.lst", "rank-1.lst"));
}

// Opening one waits until somebody writes into it: nobody does. A test that waits is ended by its time limit.
TEST_F(LiveRunTest, NamedPipesAreNotWaitedFor) {
  write_manifest("running", getppid());
  for (const char* name : {"manifest-rank-1.json", "rank-0.lst"})
    ASSERT_EQ(mkfifo((folder_ / name).c_str(), 0600), 0);
  EXPECT_FALSE(who_records_into(folder_).has_value());
  EXPECT_FALSE(other_host_that_records(folder_).has_value());
  EXPECT_FALSE(is_running(folder_));
  EXPECT_TRUE(FolderWatch(folder_, "manifest-rank-1.json", 5).was_taken());
  EXPECT_TRUE(await_survivors(folder_)) << "nobody has a lock on it";
}

}  // namespace
}  // namespace lockstep::tracer::record
