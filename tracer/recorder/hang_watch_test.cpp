// What is said where a hang can't be written down. What a hang is: attach_test.cpp; whole jobs that hang:
// tests/end_to_end/record_attach_test.cpp.
#include "tracer/recorder/hang_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>

#include "tests/temporary_folder.h"
#include "tracer/inject/control/endpoint.h"
#include "tracer/protocol/environment.h"

namespace lockstep::tracer::record {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A process that answers as one that has been silent for long; it ends by itself after two minutes.
class SilentRank {
 public:
  SilentRank(const fs::path& run, const char* name) : process_(fork()) {
    if (process_ != 0) return;
    alarm(120);
    auto* endpoint = new control::Endpoint;
    if (!endpoint->open(run.string(), name, host_name())) _exit(1);
    for (;;) {
      endpoint->serve(
          [](control::Request) { return std::string("progress=5\tsilent_ns=3600000000000\tpython=yes"); });
      usleep(1000);
    }
  }
  ~SilentRank() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  SilentRank(const SilentRank&) = delete;
  SilentRank& operator=(const SilentRank&) = delete;

 private:
  pid_t process_;
};

// What the watch says first of a hang; empty after 30 s without a word.
std::string said_of_hang(const fs::path& run) {
  std::mutex mutex;
  std::condition_variable said;
  std::string message;
  const HangWatch watch(run, 1'000'000'000, true, [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    if (message.empty()) message = text;
    said.notify_all();
  });
  std::unique_lock lock(mutex);
  said.wait_for(lock, std::chrono::seconds(30), [&] { return !message.empty(); });
  return message;
}

// Bounded: ten seconds at most.
bool comes_to_be(const fs::path& path) {
  for (int i = 0; i < 2000 && !fs::exists(path); ++i) usleep(5000);
  return fs::exists(path);
}

TEST(HangWatch, SaysOfHowManyProcessesNothingCouldBeWritten) {
  const test::TemporaryFolder run;
  const SilentRank first(run.path(), "rank-0"), second(run.path(), "rank-1");
  ASSERT_TRUE(comes_to_be(run / "control/rank-0") && comes_to_be(run / "control/rank-1"));
  // What is to be written stands under this name first. A folder that holds something is in the way for root
  // too.
  run.write("hang-rank-1.json.part/in-the-way", "");
  EXPECT_THAT(
      said_of_hang(run.path()),
      AllOf(HasSubstr("the job hangs. What 1 process of this host was doing stands in "),
            HasSubstr("says who is missing. What 1 process was doing could not be written down: cannot "
                      "write '" +
                      (run / "hang-rank-1.json") + "': File exists")));
  EXPECT_TRUE(fs::exists(run / "hang-rank-0.json"));
  EXPECT_FALSE(fs::exists(run / "hang-rank-1.json"));
}

TEST(HangWatch, SaysNothingOfFilesWhereThereAreNone) {
  const test::TemporaryFolder run;
  const SilentRank rank(run.path(), "rank-0");
  ASSERT_TRUE(comes_to_be(run / "control/rank-0"));
  run.write("hang-rank-0.json.part/in-the-way", "");
  EXPECT_THAT(said_of_hang(run.path()),
              AllOf(HasSubstr("What 1 process was doing could not be written down: cannot write '"),
                    Not(HasSubstr("stands in"))));
}

// Opening one waits until somebody reads from it or writes into it: nobody does.
TEST(HangWatch, NamedPipesAreNotWaitedFor) {
  const test::TemporaryFolder run;
  const SilentRank rank(run.path(), "rank-0");
  ASSERT_TRUE(comes_to_be(run / "control/rank-0"));
  for (const char* name : {"hang-rank-0.json.part", "hang-rank-0.json", "rank-0.python-stacks"})
    ASSERT_EQ(mkfifo((run.path() / name).c_str(), 0600), 0);
  EXPECT_THAT(said_of_hang(run.path()), HasSubstr("What 1 process of this host was doing stands in "));
  EXPECT_TRUE(fs::is_regular_file(run / "hang-rank-0.json"));
}

}  // namespace
}  // namespace lockstep::tracer::record
