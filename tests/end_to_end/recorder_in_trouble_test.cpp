// `lockstep record` that can't write its own messages, has no room, or crashes: the command runs, and its
// exit code and what it prints are the same as without us.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string_view>
#include <thread>

#include "tests/end_to_end/background_run.h"
#include "tests/end_to_end/mount.h"
#include "tests/end_to_end/recorded_run.h"
#include "tests/sanitizers.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;

const std::string kProgram = program("nvtx_behaviours");
constexpr const char* kJob = "echo out; echo err >&2; exit 5";

std::string recorder(const std::string& run, const std::string& options = "") {
  return fmt::format("{} record {} -o {} --", binary("lockstep"), options, run);
}

// "$@" in `script` is `command`.
Outcome in_trouble(const std::string& script, std::vector<std::string> command,
                   const std::vector<std::string>& environment = {}) {
  command.insert(command.begin(), {"/bin/bash", "-c", script, "bash"});
  return end_to_end::run(command, environment);
}

struct Trouble {
  const char* name;
  const char* script;
  bool needs_no_sanitizer = false;
};
void PrintTo(const Trouble& trouble, std::ostream* out) {
  *out << trouble.name;
}

// A pipe whose reader is gone: opened both ways, so that nothing waits, then for writing alone.
constexpr const char* kWithoutReader =
    "d=$(mktemp -d); mkfifo $d/p; exec 3<>$d/p 4>$d/p 3<&-; rm -r $d; \"$@\" 2>&4";

constexpr Trouble kTroubles[] = {
    {"StderrIsAFullDisk", "\"$@\" 2>/dev/full"},
    {"StderrIsClosed", "\"$@\" 2>&-"},
    {"NoStreamIsOpen", "\"$@\" <&- >&- 2>&-"},
    {"StderrIsAPipeWithoutAReader", kWithoutReader},
    {"StdoutAndStderrAreAFullDisk", "\"$@\" >/dev/full 2>&1"},
    // ThreadSanitizer's own files are larger: SIGXFSZ ends it before main.
    {"FilesMayHaveNoBytes", "ulimit -f 0; \"$@\"", kThreadSanitized},
    {"FilesMayHaveOneBlock", "ulimit -f 1; \"$@\""},
    {"FourDescriptors", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4; \"$@\"", true},
    {"FiveDescriptors", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 5; \"$@\"", true},
    {"SixteenMegabytesOfAddresses", "ulimit -v 16384; \"$@\"", true},
    {"TwentyMegabytesOfAddresses", "ulimit -v 20000; \"$@\"", true},
    {"ChildrenAreIgnored", "trap '' CHLD; \"$@\""},
};

class RecorderInTrouble : public testing::TestWithParam<Trouble> {};

TEST_P(RecorderInTrouble, RunsTheCommandAsIfItWereNotThere) {
  const Trouble& trouble = GetParam();
  if (trouble.needs_no_sanitizer && kSanitized)
    GTEST_SKIP() << "a sanitizer needs more addresses and descriptors than that";
  // A job that prints may be in trouble as well: it is the same.
  for (const char* script : {kJob, "exit 5"}) {
    const std::vector<std::string> job{"/bin/sh", "-c", script};
    const Outcome bare = in_trouble(trouble.script, job);
    for (const std::vector<std::string>& options :
         std::vector<std::vector<std::string>>{{}, {"--quiet"}, {"--sync-address", "127.0.0.1:1"}}) {
      const TemporaryFolder folder;
      std::vector<std::string> command{binary("lockstep"), "record", "-o", folder / "run"};
      command.insert(command.end(), options.begin(), options.end());
      command.push_back("--");
      command.insert(command.end(), job.begin(), job.end());
      const Outcome outcome = in_trouble(trouble.script, command);
      EXPECT_EQ(outcome.exit_code, bare.exit_code) << outcome.standard_error;
      EXPECT_EQ(outcome.signal, bare.signal);
      EXPECT_EQ(outcome.standard_output, bare.standard_output);
      const bool is_quiet = !options.empty() && options.front() == "--quiet";
      EXPECT_EQ(is_quiet ? outcome.standard_error : of_the_job(outcome.standard_error), bare.standard_error);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, RecorderInTrouble, testing::ValuesIn(kTroubles),
                         [](const auto& info) { return info.param.name; });

// From where not even the dynamic loader can start the recorder to where all is well, in steps of three
// pages: in between, each allocation is once the first that fails. The run folder holds a run, which takes
// more to look at than a new one.
TEST(RecorderOfFewAddresses, RunsTheCommandWhereverItIsStarted) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs more addresses than that";
  const TemporaryFolder folder;
  // With and without the words that say where the command begins; what it writes tells how often it ran.
  std::vector<std::vector<std::string>> commands(
      2, {binary("lockstep"), "record", "--force", "-o", folder / "run", "--", "/bin/sh", "-c",
          "echo ran >> " + (folder / "ran") + "; exit 5"});
  commands[1].erase(commands[1].begin() + 5);
  for (const std::vector<std::string>& command : commands)
    ASSERT_EQ(in_trouble("\"$@\"", command).exit_code, 5);
  int started = 0;
  for (int kilobytes = 15'600; kilobytes <= 17'600; kilobytes += 12) {
    std::filesystem::remove(folder / "ran");
    const Outcome outcome = in_trouble("ulimit -v " + std::to_string(kilobytes) + "; \"$@\"",
                                       commands[static_cast<std::size_t>(kilobytes / 12 % 2)]);
    const bool is_loaders_error =
        outcome.exit_code == 127 &&
        (outcome.standard_error.find("error while loading shared libraries") != std::string::npos ||
         outcome.standard_error.find("cannot allocate TLS") != std::string::npos);
    if (is_loaders_error && started == 0) continue;
    ++started;
    EXPECT_EQ(outcome.exit_code, 5) << kilobytes << " kB: " << outcome.standard_error;
    EXPECT_EQ(shell("cat " + (folder / "ran")).standard_output, "ran\n") << kilobytes << " kB";
  }
  EXPECT_GT(started, 80) << "most of the range is to be where it starts";
}

TEST(RecorderOfLongCommandLines, RunsWhatJustFits) {
  const TemporaryFolder folder;
  // With a stack of a megabyte, arguments and environment may have a quarter of it.
  const auto with = [&](std::size_t bytes) {
    std::vector<std::string> argv{"/bin/bash", "-c", "ulimit -s 1024; exec \"$@\"", "bash",
                                  binary("lockstep")};
    argv.insert(argv.end(), {"record", "--force", "-o", folder / "run", "--", "/bin/sh", "-c", "exit 5"});
    for (; bytes > 0; bytes -= std::min<std::size_t>(bytes, 1000))
      argv.emplace_back(std::min<std::size_t>(bytes, 1000), 'x');
    return end_to_end::run(argv);
  };
  std::size_t fits = 50'000, does_not = 300'000;
  ASSERT_EQ(with(fits).exit_code, 5);
  ASSERT_EQ(with(does_not).exit_code, 126) << "what bash says where exec fails";
  while (does_not - fits > 20) {
    const std::size_t middle = (fits + does_not) / 2;
    const Outcome outcome = with(middle);
    ASSERT_THAT(outcome.exit_code, testing::AnyOf(5, 126)) << middle;
    (outcome.exit_code == 5 ? fits : does_not) = middle;
  }
  EXPECT_THAT(with(fits).standard_error,
              HasSubstr("leave no room for Lockstep's variables (ARG_MAX): it runs"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run" + "/manifest.json")) << "nothing of it is recorded";
  for (std::size_t less = 0; less < 3000; less += 250) EXPECT_EQ(with(fits - less).exit_code, 5) << less;
}

// As a user who may have so many processes and threads; empty where this machine can't do that.
std::optional<Outcome> of_few_processes(int most, const std::string& run, const std::string& options) {
  const Outcome outcome =
      shell(fmt::format("setpriv --reuid=54321 --clear-groups bash -c 'ulimit -u {}; exec {} sh -c \"{}\"'",
                        most, recorder(run, options), kJob));
  if (outcome.standard_error.find("setpriv") != std::string::npos ||
      outcome.standard_error.find("Permission denied") != std::string::npos)
    return std::nullopt;
  return outcome;
}

TEST(RecorderWithoutProcesses, RunsTheCommandAllTheSame) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become a user who has no other process";
  for (const int most : {1, 2, 3, 4}) {
    for (const char* options : {"", "--quiet", "--sync-address 127.0.0.1:1", "--survive-kill"}) {
      SCOPED_TRACE(fmt::format("{} processes, {}", most, options));
      const TemporaryFolder folder;
      std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
      const std::optional<Outcome> outcome = of_few_processes(most, folder / "run", options);
      if (!outcome.has_value()) GTEST_SKIP() << "another user can't run this build";
      EXPECT_EQ(outcome->exit_code, 5) << outcome->standard_error;
      EXPECT_EQ(outcome->standard_output, "out\n");
      EXPECT_EQ(of_the_job(outcome->standard_error), "err\n");
      if (std::string_view(options) == "--quiet") {
        EXPECT_EQ(outcome->standard_error, "err\n");
      } else if (most == 1) {
        EXPECT_THAT(outcome->standard_error,
                    HasSubstr("the command takes the recorder's place, and runs unrecorded"));
      }
      // From two on there is room for the command. Thread sanitizer has a thread of its own in the recorder.
      EXPECT_EQ(std::filesystem::exists(folder / "run" + "/manifest.json"), most > (kThreadSanitized ? 2 : 1))
          << outcome->standard_error;
    }
  }
}

TEST(RecorderWithoutProc, FindsItsLibraryAllTheSame) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs /proc";
  const TemporaryFolder folder;
  const Outcome outcome =
      shell(fmt::format("unshare -m sh -c 'umount -l /proc || exit 99; exec {} {} leave 5'",
                        recorder(folder / "run"), kProgram));
  if (outcome.exit_code != 5 && (outcome.exit_code == 99 || outcome.standard_error.find("unshare") == 0))
    GTEST_SKIP() << "/proc can't be hidden here: " << outcome.standard_error;
  EXPECT_EQ(outcome.exit_code, 5) << outcome.standard_error;
  EXPECT_TRUE(std::filesystem::exists(folder / "run" + "/manifest.json")) << outcome.standard_error;
}

TEST(RecorderOnADeadTerminal, LosesItsMessagesAlone) {
  const TemporaryFolder folder;
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const std::string name = ptsname(terminal);
  // The shell opens it, and then it goes away.
  std::thread hang_up([&] {
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder / "opened"); }));
    close(terminal);
    std::ofstream(folder / "gone") << "\n";
  });
  const Outcome outcome = shell(fmt::format(
      "exec 4>{0}; : > {1}/opened; while [ ! -e {1}/gone ]; do sleep 0.01; done; {2} sh -c '{3}' 2>&4", name,
      folder.path().string(), recorder(folder / "run"), kJob));
  hang_up.join();
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.standard_output, "out\n");
}

class RecorderOfIgnoredSignals : public testing::TestWithParam<int> {};

// What a job ignores it ignores under the recorder too, which needs some of these for itself. Where there is
// no room for another process the command takes the recorder's place.
TEST_P(RecorderOfIgnoredSignals, LeavesThemIgnored) {
  const std::string signal = sigabbrev_np(GetParam());
  const std::vector<std::string> job{"/bin/sh", "-c", "kill -" + signal + " $$; exit 5"};
  const TemporaryFolder folder;
  for (const bool in_its_place : {false, true}) {
    if (in_its_place && geteuid() != 0) continue;  // only root can become a user who has no other process
    const std::string ignored = "trap '' " + signal + "; ";
    std::string script = ignored + "exec \"$@\"";
    if (in_its_place) {
      std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
      script = ignored +
               "exec setpriv --reuid=54322 --clear-groups bash -c 'ulimit -u 1; exec \"$@\"' bash \"$@\"";
    }
    const Outcome bare = in_trouble(script, job);
    if (in_its_place && bare.standard_error.find("setpriv") != std::string::npos) continue;
    ASSERT_EQ(bare.exit_code, 5) << bare.standard_error;
    std::vector<std::string> command{binary("lockstep"), "record", "-o",
                                     folder / (in_its_place ? "in-its-place" : "run"), "--"};
    command.insert(command.end(), job.begin(), job.end());
    // A sanitizer's own handlers hide from a program what it inherited as ignored.
    const Outcome outcome = in_trouble(script, command, sanitizers_aside());
    if (in_its_place && outcome.standard_error.find("Permission denied") != std::string::npos)
      continue;  // another user can't run this build
    EXPECT_EQ(outcome.exit_code, 5) << outcome.standard_error;
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(of_the_job(outcome.standard_error), bare.standard_error);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, RecorderOfIgnoredSignals,
                         testing::Values(SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGTRAP, SIGPIPE,
                                         SIGXFSZ, SIGCHLD, SIGTERM),
                         [](const auto& info) { return std::string("SIG") + sigabbrev_np(info.param); });

class RecorderThatCrashes : public testing::TestWithParam<int> {};

// While the command runs: it goes on, signals reach it, and its exit code is the recorder's.
TEST_P(RecorderThatCrashes, WaitsForTheCommand) {
  if (kThreadSanitized) GTEST_SKIP() << "a crash may come within a lock of ThreadSanitizer's own";
  for (const bool told : {false, true}) {
    const TemporaryFolder folder;
    std::vector<std::string> argv{binary("lockstep"), "record", "-o", folder / "run", "--", "/bin/sh", "-c"};
    argv.push_back(
        fmt::format("trap 'echo told; exit 7' TERM; echo started; : > {0}/started; while [ ! -e {0}/end ]; "
                    "do sleep 0.02; done; exit 5",
                    folder.path().string()));
    BackgroundRun job(folder, argv, sanitizers_aside());
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "started"); }));
    ASSERT_EQ(kill(job.process(), GetParam()), 0);
    ASSERT_TRUE(
        eventually([&] { return job.error_output().find("the recorder failed") != std::string::npos; }));
    if (told) {
      ASSERT_EQ(kill(job.process(), SIGTERM), 0);
    } else {
      std::ofstream(folder / "end") << "\n";
    }
    const Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, told ? 7 : 5) << outcome.standard_error;
    EXPECT_EQ(outcome.standard_output, told ? "started\ntold\n" : "started\n");
    EXPECT_EQ(of_the_job(outcome.standard_error), "");
  }
}

// The command runs before the recorder's fork() has returned: a signal that comes then must not make it run
// again.
TEST(RecorderThatCrashesAtTheFork, RunsTheCommandOnce) {
  if (shell("strace -o /dev/null true").exit_code != 0)
    GTEST_SKIP() << "strace is not there, or may not trace";
  if (kSanitized) GTEST_SKIP() << "a sanitizer's threads are started slowly as well";
  const TemporaryFolder folder;
  const std::string forks = "clone,clone3,fork,vfork";
  const std::vector<std::string> argv{"strace",
                                      "-o",
                                      "/dev/null",
                                      "-e",
                                      "trace=" + forks,
                                      "-e",
                                      "inject=" + forks + ":delay_exit=1000000",
                                      binary("lockstep"),
                                      "record",
                                      "-o",
                                      folder / "run",
                                      "--",
                                      "/bin/sh",
                                      "-c",
                                      fmt::format("echo started; echo $PPID > {0}/new; mv {0}/new "
                                                  "{0}/recorder; while [ ! -e {0}/end ]; do sleep 0.02; "
                                                  "done; exit 5",
                                                  folder.path().string())};
  BackgroundRun job(folder, argv, {});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "recorder"); }));
  pid_t recorder = 0;
  std::ifstream(folder / "recorder") >> recorder;
  ASSERT_GT(recorder, 1);
  ASSERT_EQ(kill(recorder, SIGSEGV), 0);
  ASSERT_TRUE(
      eventually([&] { return job.error_output().find("the recorder failed") != std::string::npos; }));
  std::ofstream(folder / "end") << "\n";
  const Outcome outcome = job.finish();
  EXPECT_EQ(outcome.exit_code, 5) << outcome.standard_error;
  EXPECT_EQ(outcome.standard_output, "started\n");
}

INSTANTIATE_TEST_SUITE_P(By, RecorderThatCrashes,
                         testing::Values(SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS),
                         [](const auto& info) { return std::string("SIG") + sigabbrev_np(info.param); });

}  // namespace
}  // namespace lockstep::end_to_end
