// Every source through every hard time that comes over jobs (programs/hard_times.cpp): the job prints, and
// ends with, what it would without us; what was written before is in the file; what is missing is said.
#include "tests/end_to_end/programs/hard_times.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "analyzer/open_job.h"
#include "tests/end_to_end/hard_run.h"
#include "tests/end_to_end/mount.h"
#include "tests/end_to_end/stalled_thread.h"
#include "tests/sanitizers.h"

namespace lockstep::end_to_end {
namespace {

using namespace hard_times;  // NOLINT(google-build-using-namespace): the program's numbers
using testing::AnyOf;
using testing::Contains;
using testing::IsEmpty;

// What must be in the rank's file beside the first part.
enum class Second {
  all,         // and the file is closed
  accounted,   // all, or counted as lost, and the file is closed
  some,        // as it came: the file ends before its job, and is not closed
  either,      // `accounted` or `some`: it depends on what memory there was
  after_exec,  // in a file of its own
  children,    // `all`, and each child's in a file of its own
};

struct HardTime {
  const char* name;
  Second second;
  int count = kSecond;  // events of the second part
};
void PrintTo(const HardTime& time, std::ostream* out) {
  *out << time.name;
}
constexpr HardTime kHardTimes[] = {{"finish", Second::all},
                                   {"kill", Second::some},
                                   {"abort", Second::some},
                                   {"_exit", Second::some},
                                   {"exec", Second::after_exec},
                                   {"close", Second::all},
                                   {"chdir", Second::all},
                                   {"privileges", Second::all},
                                   {"namespace", Second::all},
                                   {"file_limit", Second::some},
                                   {"full_disk", Second::some, kFlood},
                                   {"memory_limit", Second::either},
                                   {"stop", Second::all},
                                   {"recorder_stopped", Second::all},
                                   {"recorder_killed", Second::all},
                                   {"stalled", Second::accounted, kFlood},
                                   {"stalled_for_ever", Second::some},
                                   {"fork", Second::children},
                                   {"threads", Second::accounted, kThreads}};

class HardTimes : public testing::TestWithParam<std::tuple<HardSource, HardTime>> {
 protected:
  HardTimes() : source_(std::get<0>(GetParam())), time_(std::get<1>(GetParam())), run_(source_, time_.name) {}

  bool is(const char* time) const { return std::string(time_.name) == time; }

  // The hard time, as far as it comes from outside, and the end of the recorder.
  void let_it_happen();
  void stop_and_continue(pid_t process);
  void expect_file(const std::string& file, bool has_first);
  void expect_children();
  // Where something is missing, the analysis says so.
  void expect_it_is_said(bool incomplete, std::uint64_t lost);

  const HardSource source_;
  const HardTime time_;
  HardRun run_;
  Outcome outcome_;
};

// The state of the process's threads: "T" if all are stopped.
bool all_threads_are(pid_t process, char state) {
  bool all = true;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(") ");
    all = all && name_end != std::string::npos && line[name_end + 2] == state;
  }
  return all;
}

void HardTimes::stop_and_continue(pid_t process) {
  kill(process, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return all_threads_are(process, 'T'); }));
  run_.leave("go");
  if (process == run_.recorder()) {
    // The job ends meanwhile; nobody waits for it yet.
    EXPECT_TRUE(eventually([&] { return all_threads_are(run_.job(), 'Z'); }));
  }
  kill(process, SIGCONT);
  outcome_ = run_.finish();
}

void HardTimes::let_it_happen() {
  if (is("stop")) return stop_and_continue(run_.job());
  if (is("recorder_stopped")) return stop_and_continue(run_.recorder());
  if (is("recorder_killed")) {
    const pid_t job = run_.job();
    kill(run_.recorder(), SIGKILL);
    outcome_ = run_.finish();
    EXPECT_EQ(std::exchange(outcome_.signal, 0), SIGKILL);
    run_.leave("go");
    ASSERT_TRUE(eventually([&] { return kill(job, 0) != 0 || all_threads_are(job, 'Z'); }));
    // Nobody learns its exit code; its output is there.
    const Outcome alone = run_.run_alone();
    outcome_.exit_code = alone.exit_code;
    std::ifstream out(run_.folder() + "/out");
    outcome_.standard_output = std::string(std::istreambuf_iterator<char>(out), {});
    return;
  }
  if (is("stalled") || is("stalled_for_ever")) {
    StalledThread writer(run_.job(), "lockstep");
    if (!writer.is_allowed()) GTEST_SKIP() << "threads may not be held on this machine";
    const bool for_ever = is("stalled_for_ever");
    // It writes the clocks every second, whatever the job does.
    ASSERT_TRUE(for_ever ? writer.stop_at_write() : writer.stop_in_sleep());
    run_.leave("go");
    if (for_ever) {
      EXPECT_TRUE(writer.await_end());
    } else {
      EXPECT_TRUE(eventually([&] { return run_.is_there("flooded"); }));
      writer.release();
      run_.leave("end");
    }
    outcome_ = run_.finish();
    return;
  }
  if (is("full_disk")) {
    std::ofstream filler(run_.record().run_path() + "/filler");
    const std::string block(4096, 'x');
    for (int i = 0; i < 1000 && filler << block << std::flush; ++i) {
    }
  }
  run_.leave("go");
  if (is("full_disk")) {
    EXPECT_TRUE(run_.await_unwritten());
  }
  if (is("close") || is("file_limit") || is("full_disk")) run_.leave("end");
  outcome_ = run_.finish();
}

void HardTimes::expect_file(const std::string& file, bool has_first) {
  const trace::Reader reader = run_.record().open(file);
  const Seen seen = see(source_, reader);
  EXPECT_TRUE(reader.verify().ok());
  const auto state = reader.metadata().find(std::string("source.") + source_.name);
  if (state != reader.metadata().end()) {
    EXPECT_EQ(state->second, "recording");
  }
  const int begin = has_first ? 0 : kFirst;
  if (has_first) {
    EXPECT_TRUE(seen.has(source_, 0, kFirst)) << seen.numbers.size() << " events";
  }
  EXPECT_TRUE(seen.is_within(begin, kFirst + time_.count - begin));
  Second expected = time_.second;
  if (expected == Second::after_exec) expected = has_first ? Second::some : Second::all;
  if (expected == Second::children) expected = Second::all;
  if (expected == Second::either) expected = seen.complete ? Second::accounted : Second::some;
  const auto emitted = static_cast<std::uint64_t>(kFirst + time_.count - begin);
  EXPECT_EQ(seen.complete, expected != Second::some);
  if (expected == Second::all) {
    // The last look at the counters is bounded in time, so that not all of a sum may be there.
    if (source_.numbered) {
      EXPECT_TRUE(seen.has(source_, kFirst, time_.count)) << seen.numbers.size() << " events";
    }
    EXPECT_EQ(seen.lost, 0U);
  } else if (expected == Second::accounted && source_.numbered) {
    EXPECT_GE(seen.numbers.size() + seen.lost, emitted);
    if (source_.one_loss_each) {
      EXPECT_EQ(seen.numbers.size() + seen.lost, emitted);
    }
  }
  // Nothing that ended stays open.
  if (expected == Second::all || expected == Second::accounted) {
    EXPECT_THAT(unfinished_names(reader), IsEmpty());
  }
  expect_it_is_said(!seen.complete, seen.lost);
}

void HardTimes::expect_it_is_said(bool incomplete, std::uint64_t lost) {
  const Result<analyzer::Job> job = analyzer::open_job({run_.record().run_path()});
  ASSERT_TRUE(job.ok()) << job.error().message;
  std::vector<std::string> codes;
  for (const analyzer::Warning& warning : job.value().warnings) codes.push_back(warning.code);
  if (incomplete) {
    EXPECT_THAT(codes, Contains(AnyOf("file_incomplete", "file_damaged")));
  }
  if (is("recorder_killed")) {
    EXPECT_EQ(run_.record().manifest().at("state"), "running");
    return;
  }
  const nlohmann::json rank = run_.record().manifest().at("ranks").at(0);
  if (!is("exec")) {
    EXPECT_EQ(rank.at("complete"), !incomplete);
    std::uint64_t told = 0;
    for (const auto& [reason, count] : rank.at("dropped").items()) told += count.get<std::uint64_t>();
    EXPECT_EQ(told, lost);
  }
}

void HardTimes::expect_children() {
  std::multiset<int> of_children;
  std::size_t files = 0;
  for (const std::string& file : run_.record().files()) {
    if (file == "rank-0.lst") continue;
    ++files;
    const Seen seen = see(source_, run_.record().open(file));
    EXPECT_TRUE(seen.complete) << file;
    EXPECT_EQ(seen.lost, 0U) << file;
    of_children.insert(seen.numbers.begin(), seen.numbers.end());
  }
  if (source_.numbered) {
    EXPECT_EQ(files, source_.child_can_emit ? std::size_t{kChildren} : 0U);
  } else {
    // A child that is over before somebody has looked at it has nothing to tell.
    EXPECT_THAT(files, testing::AllOf(testing::Gt(0U), testing::Le(std::size_t{kChildren})));
  }
  if (!source_.child_can_emit || !source_.numbered) return;
  std::multiset<int> expected;
  for (int child = 1; child <= kChildren; ++child) {
    for (int i = 0; i < kOfChild; ++i) expected.insert(child * kChildBase + i);
  }
  EXPECT_EQ(of_children, expected);
}

TEST_P(HardTimes, LeaveTheJobAsItIsAndWhatWasRecordedReadable) {
  if (kSanitized && is("memory_limit")) GTEST_SKIP() << "a sanitizer takes terabytes of addresses";
  std::optional<end_to_end::Mount> disk;
  if (is("full_disk")) {
    disk.emplace(run_.record().run_path(), 0, "size=256k");
    if (!disk->mounted()) GTEST_SKIP() << "mounting a small file system is not allowed here";
  }
  const Outcome alone = run_.run_alone();
  if (alone.exit_code == kNotPossible) GTEST_SKIP() << "only root can do that, and not everywhere";
  run_.start();
  ASSERT_TRUE(run_.await_first());
  let_it_happen();
  if (HasFatalFailure() || IsSkipped()) return;
  EXPECT_EQ(outcome_.exit_code, alone.exit_code);
  EXPECT_EQ(outcome_.signal, alone.signal);
  EXPECT_EQ(outcome_.standard_output, alone.standard_output);
  EXPECT_EQ(outcome_.standard_error, alone.standard_error);
  expect_file("rank-0.lst", true);
  if (time_.second == Second::children) return expect_children();
  for (const std::string& file : run_.record().files()) {
    if (file == "rank-0.lst") continue;
    EXPECT_EQ(time_.second, Second::after_exec) << file;
    expect_file(file, false);
  }
  EXPECT_EQ(run_.record().files().size(), time_.second == Second::after_exec ? 2U : 1U);
}

INSTANTIATE_TEST_SUITE_P(Every, HardTimes,
                         testing::Combine(testing::ValuesIn(kHardSources), testing::ValuesIn(kHardTimes)),
                         [](const auto& info) {
                           const std::string time = std::get<1>(info.param).name;
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  (time == "_exit" ? "underscore_exit" : time);
                         });

// --- before anything was recorded ---

class HardTimesFromTheStart : public testing::TestWithParam<HardSource> {};

// The job is in a mount namespace where there is no run folder.
TEST_P(HardTimesFromTheStart, AHiddenRunFolderLetsTheJobRunAndLeavesTheRankMissing) {
  HardRun run(GetParam(), "hidden");
  const Outcome alone = run.run_alone();
  if (alone.exit_code == kNotPossible) GTEST_SKIP() << "mount namespaces are not allowed here";
  run.start();
  const Outcome outcome = run.finish();
  EXPECT_EQ(outcome.exit_code, alone.exit_code);
  EXPECT_EQ(outcome.standard_output, alone.standard_output);
  EXPECT_EQ(outcome.standard_error, alone.standard_error);
  EXPECT_THAT(run.record().files(), IsEmpty());
  EXPECT_EQ(run.record().manifest().at("ranks"), nlohmann::json::array());
}

// From the least that the job itself can run in to what all of the recording fits into.
TEST_P(HardTimesFromTheStart, LittleMemoryIsTheJobsFirst) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes terabytes of addresses";
  const TemporaryFolder folder;
  std::ofstream(folder / "go") << "";
  int ran = 0;
  for (const int megabytes : {6, 8, 10, 12, 16, 24, 32, 64, 128}) {
    const HardRun run(GetParam(), "little_memory");
    const std::vector<std::string> words = run.command(folder.path().string());
    const std::string script = fmt::format("ulimit -v {}; exec \"$0\" \"$@\"", megabytes * 1024);
    std::vector<std::string> command{"/bin/sh", "-c", script};
    command.insert(command.end(), words.begin(), words.end());
    const Outcome alone = end_to_end::run(command, run.environment());
    if (alone.exit_code != kExitCode) continue;  // not even without us
    ++ran;
    RecordedRun recorded;
    record(recorded, command, run.environment(),
           std::string(GetParam().name) == "cpu" ? std::vector<std::string>{"-q", "--cpu"}
                                                 : std::vector<std::string>{"-q"});
    EXPECT_EQ(recorded.outcome.exit_code, alone.exit_code) << megabytes << " MB";
    EXPECT_EQ(recorded.outcome.signal, alone.signal) << megabytes << " MB";
    EXPECT_EQ(recorded.outcome.standard_output, alone.standard_output) << megabytes << " MB";
    EXPECT_EQ(recorded.outcome.standard_error, alone.standard_error) << megabytes << " MB";
    for (const std::string& file : recorded.files()) EXPECT_TRUE(recorded.open(file).verify().ok());
  }
  EXPECT_GT(ran, 2);
}

INSTANTIATE_TEST_SUITE_P(Every, HardTimesFromTheStart, testing::ValuesIn(kHardSources),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lockstep::end_to_end
