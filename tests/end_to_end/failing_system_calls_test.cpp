// Every system call that the recorder makes fails once, with every error that it can give, as strace injects
// it: the command runs as if it were not there, and what is lost is said.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/end_to_end/recorded_run.h"

namespace lockstep::end_to_end {
namespace {

// Not brk: the kernel refuses it by returning the end of the heap as it was, which strace can't.
const std::map<std::string, std::vector<const char*>> kErrors{
    {"access", {"EACCES"}},
    {"clone", {"EAGAIN", "ENOMEM"}},
    {"clone3", {"EAGAIN", "ENOMEM"}},
    {"close", {"EIO"}},
    {"fallocate", {"ENOSPC", "EOPNOTSUPP"}},
    {"fcntl", {"EBADF"}},
    {"futex", {"EINVAL"}},
    {"getcwd", {"ENOENT"}},
    {"getdents64", {"EIO"}},
    {"ioctl", {"EIO"}},
    {"link", {"EPERM", "EMLINK"}},
    {"lseek", {"EINVAL"}},
    {"mkdir", {"EACCES", "ENOSPC"}},
    {"mmap", {"ENOMEM"}},
    {"mprotect", {"ENOMEM"}},
    {"munmap", {"EINVAL"}},
    {"newfstatat", {"EACCES", "ENOENT"}},
    {"openat", {"EACCES", "EMFILE", "ENOENT", "ENOSPC"}},
    {"pipe2", {"EMFILE"}},
    {"poll", {"EINTR", "ENOMEM"}},
    {"pread64", {"EIO"}},
    {"read", {"EINTR", "EIO"}},
    {"readlink", {"EACCES"}},
    {"rename", {"EACCES", "ENOSPC"}},
    {"rmdir", {"EACCES"}},
    {"rt_sigaction", {"EINVAL"}},
    {"rt_sigpending", {"EINVAL"}},
    {"rt_sigprocmask", {"EINVAL"}},
    {"rt_sigtimedwait", {"EINTR", "EINVAL"}},
    {"sigaltstack", {"ENOMEM"}},
    {"socket", {"EMFILE", "EAFNOSUPPORT"}},
    {"uname", {"EFAULT"}},
    {"unlink", {"EACCES", "EIO"}},
    {"wait4", {"ECHILD", "EINTR"}},
    {"write", {"EIO", "ENOSPC", "EPIPE"}},
};

// Where main() begins: hold_closed_streams looks at the standard streams. What the dynamic loader does before
// that no program can answer for.
// brk is left out: the kernel refuses it by returning the end as it was, which strace can't.
constexpr const char* kBeginOfMain = "fcntl(0, F_GETFD)";

struct Calls {
  int before_main = 0, all = 0;
};

class FailingSystemCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (shell("strace -o /dev/null true").exit_code != 0)
      GTEST_SKIP() << "strace is not there, or may not trace";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's own system calls are no part of the recorder";
#endif
  }

  // Two ranks and a launcher that prints, under strace with these options; strace follows no other process.
  Outcome record(const std::string& strace) {
    std::filesystem::remove_all(folder_ / "run");
    const std::string rank = "RANK={} WORLD_SIZE=2 LOCAL_RANK={} " + program("nvtx_behaviours") + " leave 0";
    const std::string job =
        fmt::format("{} & {} & wait; echo out; echo err >&2; exit 5", fmt::format(fmt::runtime(rank), 0, 0),
                    fmt::format(fmt::runtime(rank), 1, 1));
    std::ofstream(folder_ / "job.sh") << job << "\n";
    return shell(fmt::format("timeout 30 strace {} {} record -o {} -- /bin/sh {}", strace, binary("lockstep"),
                             folder_ / "run", folder_ / "job.sh"));
  }

  std::map<std::string, Calls> count_calls() {
    const Outcome outcome = record("-o " + (folder_ / "calls"));
    EXPECT_EQ(outcome.exit_code, 5) << outcome.standard_error;
    EXPECT_TRUE(is_whole());
    std::map<std::string, Calls> calls;
    std::ifstream file(folder_ / "calls");
    bool in_main = false;
    for (std::string line; std::getline(file, line);) {
      in_main = in_main || line.starts_with(kBeginOfMain);
      Calls& of = calls[line.substr(0, line.find('('))];
      ++of.all;
      if (!in_main) ++of.before_main;
    }
    EXPECT_TRUE(in_main);
    return calls;
  }

  bool is_whole() const {
    return has_both_ranks_whole(folder_ / "run");
  }

  std::string what_is_there() const {
    std::string text = shell("ls -l " + (folder_ / "run")).standard_output;
    std::ifstream file(folder_ / "run" + "/manifest.json");
    return text + std::string(std::istreambuf_iterator<char>(file), {});
  }

  TemporaryFolder folder_;
};

TEST_F(FailingSystemCalls, ChangeNothingForTheCommandAndLoseNothingInSilence) {
  const std::regex says_so(
      "unrecorded|failed|cannot|could not|lost|missing|not whole|nothing was recorded|deleted|not "
      "closed|belongs to");
  int trials = 0;
  for (const auto& [call, count] : count_calls()) {
    const auto errors = kErrors.find(call);
    if (errors == kErrors.end()) continue;
    for (const char* error : errors->second)
      for (int number = count.before_main + 1; number <= count.all; ++number) {
        const Outcome outcome = record(
            fmt::format("-o /dev/null -e trace={0} -e inject={0}:error={1}:when={2}", call, error, number));
        const std::string what = fmt::format("{} number {} fails with {}: ", call, number, error);
        EXPECT_EQ(outcome.exit_code, 5) << what << outcome.standard_error;
        EXPECT_EQ(outcome.standard_output, "out\n") << what;
        EXPECT_EQ(of_the_job(outcome.standard_error), "err\n") << what;
        // Its own messages may be what can't be written.
        if (call != "write" && call != "poll" && !is_whole()) {
          EXPECT_TRUE(std::regex_search(outcome.standard_error, says_so))
              << what << outcome.standard_error << what_is_there();
        }
        ++trials;
      }
  }
  EXPECT_GT(trials, 300);
  RecordProperty("trials", trials);
  std::printf("torture: system calls that fail: %d trials\n", trials);
}

}  // namespace
}  // namespace lockstep::end_to_end
