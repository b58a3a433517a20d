// Who records into a folder, and what has vanished from it. With real recorders:
// tests/end_to_end/record_live_run_test.cpp.
#include "tracer/recorder/live_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "tests/sanitizers.h"
#include "tests/temporary_folder.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/recording.h"
#include "tracer/recorder/survivors.h"

namespace lockstep::tracer::record {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using Owner = FolderWatch::Owner;

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
  EXPECT_EQ(watch.ownership().owner, Owner::we);
  fs::remove(folder_ / "rank-1.lst");
  EXPECT_THAT(watch.vanished(), ElementsAre("rank-1.lst"));
  write_manifest("running", getppid());
  EXPECT_EQ(watch.ownership().owner, Owner::another);
  fs::remove_all(folder_);
  EXPECT_EQ(watch.ownership().owner, Owner::nobody);
  EXPECT_THAT(watch.vanished(), ElementsAre("rank-0.lst", "rank-1.lst"));
}

// What can't be read tells nothing of whose it is, nor that it is gone.
TEST_F(LiveRunTest, WhatCannotBeReadIsNeitherGoneNorAnothers) {
  write_manifest("running", getpid());
  write("rank-0.lst", "");
  FolderWatch watch(folder_, "manifest.json", 5);
  watch.look();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  // Judged afterwards, and without exceptions under a sanitizer: UBSan's own checks want a descriptor.
  const FolderWatch::Ownership ownership = watch.ownership();
  const std::vector<std::string> vanished = watch.vanished();
  bool refused = kSanitized;
  if (!kSanitized) {
    try {
      (void)read_recording(folder_);
    } catch (const std::system_error&) {
      refused = true;
    }
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(vanished, IsEmpty());
  EXPECT_TRUE(refused) << "an empty one would be said to be empty";
  EXPECT_EQ(ownership.owner, Owner::unknown);
  EXPECT_EQ(ownership.why, "Too many open files");
  write("manifest.json", "{\"state\": \"run");
  EXPECT_EQ(watch.ownership().owner, Owner::unknown) << "half a manifest names no other run";
  // Names that lead back to themselves can't be looked up, by root either.
  for (const char* name : {"manifest.json", "rank-0.lst"}) {
    fs::remove(folder_ / name);
    fs::create_symlink(name, folder_ / name);
  }
  EXPECT_EQ(watch.ownership().owner, Owner::unknown);
  EXPECT_THAT(watch.vanished(), IsEmpty());
}

// Opening one waits until somebody writes into it: nobody does. A test that waits is ended by its time limit.
TEST_F(LiveRunTest, NamedPipesAreNotWaitedFor) {
  write_manifest("running", getppid());
  for (const char* name : {"manifest-rank-1.json", "rank-0.lst"})
    ASSERT_EQ(mkfifo((folder_ / name).c_str(), 0600), 0);
  EXPECT_FALSE(who_records_into(folder_).has_value());
  EXPECT_FALSE(other_host_that_records(folder_).has_value());
  EXPECT_FALSE(is_running(folder_));
  EXPECT_EQ(FolderWatch(folder_, "manifest-rank-1.json", 5).ownership().owner, Owner::nobody);
  EXPECT_TRUE(await_survivors(folder_)) << "nobody has a lock on it";
}

}  // namespace
}  // namespace lockstep::tracer::record
