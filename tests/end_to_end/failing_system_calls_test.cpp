// Every system call that the recorder makes fails once, with every error that it can give, as strace injects
// it: the command runs as if it were not there, and what is lost is said.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/end_to_end/recorded_run.h"
#include "tests/sanitizers.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

// With each error that the manual pages name and that a disk, a limit or a sandbox can cause. Not brk: the
// kernel refuses it by returning the end of the heap as it was, which strace can't.
const std::map<std::string, std::vector<const char*>> kErrors{
    {"access", {"EACCES", "ENOENT", "EIO"}},
    {"bind", {"EADDRINUSE", "EACCES"}},
    {"clone", {"EAGAIN", "ENOMEM", "EPERM"}},
    {"clone3", {"EAGAIN", "ENOMEM", "EPERM"}},
    {"close", {"EIO", "EINTR", "ENOSPC", "EDQUOT"}},
    {"connect", {"ECONNREFUSED", "EAGAIN", "EACCES"}},
    {"epoll_create1", {"EMFILE"}},
    {"eventfd2", {"EMFILE", "ENODEV", "ENOMEM"}},
    {"fallocate", {"ENOSPC", "EOPNOTSUPP", "EIO", "EFBIG", "EINTR"}},
    {"fcntl", {"EBADF", "EACCES"}},
    {"fdatasync", {"EIO", "ENOSPC", "EINVAL"}},
    {"flock", {"ENOLCK", "EINTR"}},
    {"fstat", {"EIO"}},
    {"fsync", {"EIO", "ENOSPC", "EINVAL"}},
    {"ftruncate", {"EIO", "EFBIG"}},
    {"futex", {"EINVAL"}},
    {"getcwd", {"ENOENT", "EACCES"}},
    {"getdents64", {"EIO", "ENOENT"}},
    {"getrandom", {"EAGAIN", "EINTR", "ENOSYS"}},
    {"getsockname", {"ENOBUFS"}},
    {"ioctl", {"EIO", "ENOTTY"}},
    {"link", {"EPERM", "EMLINK", "ENOSPC"}},
    {"lseek", {"EINVAL"}},
    {"mkdir", {"EACCES", "ENOSPC", "EROFS", "EDQUOT", "EEXIST"}},
    {"mmap", {"ENOMEM"}},
    {"mprotect", {"ENOMEM"}},
    {"munmap", {"EINVAL"}},
    {"newfstatat", {"EACCES", "ENOENT", "EIO", "ESTALE"}},
    {"openat",
     {"EACCES", "EMFILE", "ENOENT", "ENOSPC", "EROFS", "EDQUOT", "ENFILE", "EIO", "EINTR", "ESTALE"}},
    {"pipe2", {"EMFILE", "ENFILE"}},
    {"poll", {"EINTR", "ENOMEM"}},
    {"ppoll", {"EINTR", "ENOMEM"}},
    {"pread64", {"EIO", "EINTR", "ESTALE"}},
    {"prlimit64", {"EPERM"}},
    {"pwrite64", {"EIO", "ENOSPC", "EINTR"}},
    {"read", {"EINTR", "EIO", "ESTALE"}},
    {"readlink", {"EACCES", "EINVAL", "EIO"}},
    {"recvfrom", {"EAGAIN", "ECONNREFUSED", "EINTR"}},
    {"recvmsg", {"EAGAIN", "EINTR", "ENOMEM"}},
    {"rename", {"EACCES", "ENOSPC", "EIO", "EROFS", "EDQUOT", "EXDEV"}},
    {"rmdir", {"EACCES", "ENOTEMPTY"}},
    {"rt_sigaction", {"EINVAL"}},
    {"rt_sigpending", {"EINVAL"}},
    {"rt_sigprocmask", {"EINVAL"}},
    {"rt_sigtimedwait", {"EINTR", "EINVAL"}},
    {"sendmsg", {"EAGAIN", "ENOBUFS", "EPIPE"}},
    {"sendto", {"EAGAIN", "ENETUNREACH", "EPERM", "ENOBUFS"}},
    {"setsockopt", {"EINVAL", "ENOPROTOOPT"}},
    {"sigaltstack", {"ENOMEM"}},
    {"socket", {"EMFILE", "EAFNOSUPPORT", "ENFILE", "ENOMEM", "EPERM"}},
    {"statfs", {"EIO", "EINTR"}},
    {"statx", {"EACCES", "ENOENT"}},
    {"uname", {"EFAULT"}},
    {"unlink", {"EACCES", "EIO", "EROFS"}},
    {"unlinkat", {"EACCES", "EIO", "EROFS"}},
    {"wait4", {"ECHILD", "EINTR"}},
    {"write", {"EIO", "ENOSPC", "EPIPE", "EINTR", "EAGAIN", "EDQUOT", "EFBIG"}},
};

// What can't fail, doesn't return, or has no answer that anybody looks at.
const std::set<std::string> kWithoutErrors{"arch_prctl",
                                           "brk",
                                           "clock_nanosleep",
                                           "execve",
                                           "exit",
                                           "exit_group",
                                           "getegid",
                                           "geteuid",
                                           "getgid",
                                           "getpid",
                                           "getppid",
                                           "gettid",
                                           "getuid",
                                           "kill",
                                           "madvise",
                                           "nanosleep",
                                           "restart_syscall",
                                           "rseq",
                                           "rt_sigreturn",
                                           "sched_getaffinity",
                                           "set_robust_list",
                                           "set_tid_address",
                                           "sysinfo",
                                           "tgkill",
                                           "sched_yield",
                                           "umask"};

// scripts/torture tries each error, a test run the first of each call.
bool tries_all() {
  return std::getenv("LOCKSTEP_TORTURE_TRIALS") != nullptr;
}

// Where main() begins: hold_closed_streams looks at the standard streams. What the dynamic loader does before
// that no program can answer for.
constexpr const char* kBeginOfMain = "fcntl(0, F_GETFD)";

// Of one thread: strace counts each thread's calls by itself.
struct Calls {
  int before_main = 0, all = 0;
};
using CallsOfThread = std::map<std::string, Calls>;

class FailingSystemCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (shell("strace -o /dev/null true").exit_code != 0)
      GTEST_SKIP() << "strace is not there, or may not trace";
    if (kSanitized) GTEST_SKIP() << "a sanitizer's own system calls are no part of the recorder";
  }

  // Two ranks and a launcher that prints, under strace with these options, which follows the recorder's
  // threads and leaves whatever is executed.
  Outcome record(const std::string& strace, const std::string& options) {
    std::filesystem::remove_all(folder_ / "run");
    const std::string rank = "RANK={} WORLD_SIZE=2 LOCAL_RANK={} " + program("nvtx_behaviours") + " leave 0";
    const std::string job =
        fmt::format("{} & {} & wait; echo out; echo err >&2; exit 5", fmt::format(fmt::runtime(rank), 0, 0),
                    fmt::format(fmt::runtime(rank), 1, 1));
    std::ofstream(folder_ / "job.sh") << job << "\n";
    return shell(
        fmt::format("timeout --signal=KILL 30 strace -f -b execve {} {} record {} -o {} -- /bin/sh {}",
                    strace, binary("lockstep"), options, folder_ / "run", folder_ / "job.sh"));
  }

  // How often each call may be made to fail: from the first number after the loader's to the last of any
  // thread.
  std::map<std::string, Calls> count_calls(const std::string& options) {
    const Outcome outcome = record("-o " + (folder_ / "calls"), options);
    EXPECT_EQ(outcome.exit_code, 5) << outcome.standard_error;
    EXPECT_TRUE(is_whole());
    std::map<std::string, CallsOfThread> threads;
    std::ifstream file(folder_ / "calls");
    std::string first;  // the thread of main
    bool in_main = false;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string thread, call;
      words >> thread;
      std::getline(words >> std::ws, call);
      if (first.empty()) first = thread;
      if (call.starts_with("<") || call.starts_with("+++") || call.starts_with("---")) continue;
      in_main = in_main || call.starts_with(kBeginOfMain);
      Calls& of = threads[thread][call.substr(0, call.find('('))];
      ++of.all;
      if (!in_main) ++of.before_main;
    }
    EXPECT_TRUE(in_main);
    std::map<std::string, Calls> calls = threads[first];
    for (const auto& [thread, of_thread] : threads)
      for (const auto& [call, count] : of_thread) calls[call].all = std::max(calls[call].all, count.all);
    return calls;
  }

  // What was made to fail was a message, or waiting for room for one.
  bool was_of_stderr() const {
    std::ifstream file(folder_ / "injected");
    for (std::string line; std::getline(file, line);)
      if (line.find("(INJECTED)") != std::string::npos &&
          (line.find("write(2,") != std::string::npos || line.find("{fd=2,") != std::string::npos))
        return true;
    return false;
  }

  // Nobody else has this folder, and nothing is deleted from it: only who is told that a file is not there
  // may believe it.
  static void expect_nobody_blamed(const std::string& said, const std::string& error,
                                   const std::string& what) {
    EXPECT_EQ(said.find("belongs to another"), std::string::npos) << what << said;
    if (error == "ENOENT") return;
    EXPECT_EQ(said.find("deleted"), std::string::npos) << what << said;
  }

  // Whatever failed, what is there can be opened.
  void expect_readable(const std::string& what) const {
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run", gone)) {
      if (entry.path().extension() != ".lst") continue;
      const auto opened = trace::Reader::open(entry.path());
      EXPECT_TRUE(opened.ok()) << what << opened.error().message << what_is_there();
    }
  }

  // The number of trials.
  int let_each_fail(const std::string& options) {
    const std::regex says_so(
        "unrecorded|failed|cannot|could not|lost|missing|not whole|nothing was recorded|not closed");
    int trials = 0;
    for (const auto& [call, count] : count_calls(options)) {
      const auto errors = kErrors.find(call);
      if (errors == kErrors.end()) {
        EXPECT_TRUE(kWithoutErrors.contains(call)) << call << ": which errors can it give?";
        continue;
      }
      for (const char* error : errors->second) {
        for (int number = count.before_main + 1; number <= count.all; ++number) {
          const Outcome outcome = record(fmt::format("-o {3} -e trace={0} -e inject={0}:error={1}:when={2}",
                                                     call, error, number, folder_ / "injected"),
                                         options);
          const std::string what = fmt::format("{} number {} fails with {}: ", call, number, error);
          EXPECT_EQ(outcome.exit_code, 5) << what << outcome.standard_error;
          EXPECT_EQ(outcome.standard_output, "out\n") << what;
          if (options.find("--quiet") != std::string::npos) {
            EXPECT_EQ(outcome.standard_error, "err\n") << what;
          } else {
            EXPECT_EQ(of_the_job(outcome.standard_error), "err\n") << what;
            expect_nobody_blamed(outcome.standard_error, error, what);
            if (!is_whole() && !was_of_stderr()) {
              EXPECT_TRUE(std::regex_search(outcome.standard_error, says_so))
                  << what << outcome.standard_error << what_is_there();
            }
          }
          expect_readable(what);
          ++trials;
        }
        if (!tries_all()) break;
      }
    }
    return trials;
  }

  bool is_whole() const { return has_both_ranks_whole(folder_ / "run"); }

  std::string what_is_there() const {
    std::string text = shell("ls -l " + (folder_ / "run")).standard_output;
    std::ifstream file(folder_ / "run" + "/manifest.json");
    return text + std::string(std::istreambuf_iterator<char>(file), {});
  }

  TemporaryFolder folder_;
};

TEST_F(FailingSystemCalls, ChangeNothingForTheCommandAndLoseNothingInSilence) {
  int trials = let_each_fail("");
  EXPECT_GT(trials, 150);
  if (tries_all())
    for (const char* options : {"--quiet", "--survive-kill --sync-address 127.0.0.1:1"})
      trials += let_each_fail(options);
  RecordProperty("trials", trials);
  std::printf("torture: system calls that fail: %d trials\n", trials);
}

// Whichever time it is: when the run begins, to see whose it is at the end, and to write it there.
TEST_F(FailingSystemCalls, OfItsOwnManifestDoNotMakeItAnothers) {
  for (const char* error : {"EIO", "EMFILE", "EACCES"}) {
    for (int number = 1; number <= 4; ++number) {
      const Outcome outcome = record(fmt::format("-o {0} -P {1}/manifest.json -e trace=openat -e "
                                                 "inject=openat:error={2}:when={3}",
                                                 folder_ / "injected", folder_ / "run", error, number),
                                     "");
      const std::string what = fmt::format("{} at number {}: ", error, number);
      EXPECT_EQ(outcome.exit_code, 5) << what << outcome.standard_error;
      EXPECT_EQ(of_the_job(outcome.standard_error), "err\n") << what;
      expect_nobody_blamed(outcome.standard_error, error, what);
      EXPECT_TRUE(is_whole()) << what << outcome.standard_error << what_is_there();
    }
  }
}

}  // namespace
}  // namespace lockstep::end_to_end
