// A run folder that is being recorded into: nobody else gets it, and if its files vanish all the same, that
// is said.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <regex>
#include <system_error>
#include <thread>

#include "tests/end_to_end/running_job.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using end_to_end::Outcome;
using end_to_end::record;
using end_to_end::RecordedRun;
using end_to_end::RunningJob;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(LiveRun, NobodyElseGetsTheFolderWhileAProcessIsRecorded) {
  RunningJob live;
  live.start_steps(6, 3);
  ASSERT_TRUE(live.has("control/rank-0"));
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--force"}, {}}) {
    record(live.run, {"true"}, {}, options);
    EXPECT_EQ(live.run.outcome.exit_code, 2);
    EXPECT_THAT(live.run.outcome.standard_error, HasSubstr("is being recorded into by rank-0 (process "));
    EXPECT_THAT(live.run.outcome.standard_error, HasSubstr("choose another folder with -o"));
    EXPECT_THAT(live.run.outcome.standard_error, Not(HasSubstr("--force")));
  }
  const Outcome outcome = live.end();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(live.job->error_output(), HasSubstr("1 rank, "));
  EXPECT_TRUE(live.run.open().complete());
  // Now it is free.
  record(live.run, {"true"}, {}, {"--force"});
  EXPECT_EQ(live.run.outcome.exit_code, 0);
}

TEST(LiveRun, NobodyElseGetsItWhileOnlyTheRecorderRuns) {
  RunningJob live;
  live.start({},
             {"/bin/sh", "-c",
              fmt::format("n=0; until [ -e {} ] || [ $n = 600 ]; do sleep 0.1; n=$((n+1)); done", live.go)});
  ASSERT_TRUE(live.has("manifest.json"));
  record(live.run, {"true"}, {}, {"--force"});
  EXPECT_EQ(live.run.outcome.exit_code, 2);
  EXPECT_THAT(live.run.outcome.standard_error, HasSubstr("(lockstep record)"));
  EXPECT_EQ(live.end().exit_code, 0);
}

TEST(LiveRun, ARecorderThatIsGoneDoesNotKeepItsFolder) {
  RecordedRun run;
  fs::create_directory(run.run_path());
  // Its number is somebody's who is no recorder: this test's.
  std::ofstream(run.run_path() + "/manifest.json")
      << nlohmann::json{{"format", "lockstep.run/1"},
                        {"state", "running"},
                        {"recorder_process", getpid()},
                        {"host", [] {
                           std::ifstream file("/proc/sys/kernel/hostname");
                           std::string host;
                           file >> host;
                           return host;
                         }()}};
  record(run, {"true"}, {}, {"--force"});
  EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.standard_error;
}

TEST(LiveRun, AManifestOfAnotherRunIsNotOverwritten) {
  RunningJob live;
  live.start_steps(6, 3);
  ASSERT_TRUE(live.has("control/rank-0"));
  const std::string manifest = live.run.run_path() + "/manifest.json";
  std::ofstream(manifest, std::ios::trunc) << R"({"format": "lockstep.run/1", "state": "finished"})";
  EXPECT_EQ(live.end().exit_code, 0);
  EXPECT_THAT(live.job->error_output(), HasSubstr("belongs to another run by now"));
  EXPECT_EQ(live.run.manifest().at("state"), "finished");
  EXPECT_FALSE(live.run.manifest().contains("command"));
}

// Whether somebody has listed the folder twice from here on: what was there when the first began was seen
// then.
bool is_listed_twice(const std::string& folder) {
  constexpr int kPatience = 60'000;  // ms; the recorder looks every two seconds
  const int watch = inotify_init1(IN_CLOEXEC);
  if (watch < 0 || inotify_add_watch(watch, folder.c_str(), IN_OPEN | IN_ONLYDIR) < 0) return false;
  int listed = 0;
  pollfd waiting{watch, POLLIN, 0};
  while (listed < 2 && poll(&waiting, 1, kPatience) > 0) {
    alignas(inotify_event) std::array<char, 4096> events{};
    const ssize_t size = read(watch, events.data(), events.size());
    for (ssize_t at = 0; at < size;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(events.data() + at);
      // Without a name it is the folder itself.
      if (event->len == 0 && (event->mask & IN_ISDIR) != 0) ++listed;
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  close(watch);
  return listed >= 2;
}

// Why it is not there is known: it did not end before it had one.
TEST(LiveRun, AProcessWhoseFileWasDeletedIsNotSaidToHaveEndedAtOnce) {
  RunningJob live;
  live.start_steps(6, 3);
  ASSERT_TRUE(live.waits());
  ASSERT_TRUE(live.has("rank-0.lst"));
  ASSERT_TRUE(is_listed_twice(live.run.run_path()));
  fs::remove(live.run.run_path() + "/rank-0.lst");
  EXPECT_EQ(live.end().exit_code, 0);
  const std::string said = std::regex_replace(live.job->error_output(), std::regex("\n  "), " ");
  EXPECT_THAT(said, HasSubstr("1 trace file was deleted"));
  EXPECT_THAT(said, Not(HasSubstr("a moment of the first event")));
  EXPECT_THAT(said, Not(HasSubstr("nothing was recorded")));
  for (const nlohmann::json& of : live.run.manifest().value("unrecorded", nlohmann::json::array()))
    EXPECT_THAT(of.at("reason").get<std::string>(), HasSubstr("its file was deleted while the job ran"));
}

// Some other program cuts the file of a running rank: what it writes afterwards can be read, and the loss is
// said by the recorder, the manifest and the report.
TEST(LiveRun, AFileThatIsCutWhileItIsWrittenIsSaid) {
  for (const std::uintmax_t left : {0, 200}) {
    RunningJob live;
    live.start_steps(6, 3);
    ASSERT_TRUE(live.waits());
    const std::string file = live.run.run_path() + "/rank-0.lst";
    const auto size = [&file]() -> std::uintmax_t {
      std::error_code none;
      const std::uintmax_t bytes = fs::file_size(file, none);
      return none ? 0 : bytes;  // it is not there yet
    };
    for (int tries = 0; tries < 600 && size() <= 300; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_GT(size(), 300U);
    fs::resize_file(file, left);
    EXPECT_EQ(live.end().exit_code, 0);
    const std::string said = fmt::format("rank-0.lst was cut to {} bytes by another program", left);
    EXPECT_THAT(std::regex_replace(live.job->error_output(), std::regex("\n  "), " "), HasSubstr(said));
    const nlohmann::json rank = live.run.manifest().at("ranks").at(0);
    EXPECT_EQ(rank.at("cut_to_bytes"), left);
    EXPECT_EQ(rank.at("rank"), 0) << "what the file says of itself stands in it twice";
    const end_to_end::TemporaryFolder folder;
    const Outcome report = end_to_end::run(
        {end_to_end::binary("lockstep"), "analyze", live.run.run_path(), "--json", folder / "report.json"});
    EXPECT_EQ(report.exit_code, 0) << report.standard_error;
    EXPECT_THAT(std::regex_replace(report.standard_output, std::regex("\n *"), " "),
                HasSubstr(fmt::format("another program cut it to {} bytes while it was written", left)));
  }
}

}  // namespace
}  // namespace lockstep
