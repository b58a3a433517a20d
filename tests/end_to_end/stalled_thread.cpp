#include "tests/end_to_end/stalled_thread.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/end_to_end/background_run.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxStops = 20'000;
constexpr int kMaxAttempts = 3000;            // a minute
constexpr int kSyscallStop = SIGTRAP | 0x80;  // with PTRACE_O_TRACESYSGOOD

// The system call that the stopped or sleeping thread is in; -1: none.
long system_call(pid_t process, pid_t thread) {
  std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/syscall");
  long number = -1;
  return file >> number ? number : -1;
}

}  // namespace

pid_t find_thread(pid_t process, const std::string& name) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", error)) {
    std::ifstream file(entry.path() / "comm");
    std::string line;
    if (std::getline(file, line) && line == name) return std::atoi(entry.path().filename().c_str());
  }
  return 0;
}

StalledThread::StalledThread(pid_t process, const std::string& name) : process_(process) {
  const pid_t thread = find_thread(process, name);
  if (thread > 0 && ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACESYSGOOD) == 0) thread_ = thread;
}

StalledThread::~StalledThread() {
  release();
}

bool StalledThread::await_stop() {
  return eventually([&] {
    int status = 0;
    return waitpid(thread_, &status, __WALL | WNOHANG) == thread_ && WIFSTOPPED(status);
  });
}

bool StalledThread::stop_in_sleep() {
  for (int attempt = 0; thread_ > 0 && attempt < kMaxAttempts; ++attempt) {
    if (ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0 || !await_stop()) return false;
    if (system_call(process_, thread_) == SYS_futex) return true;
    ptrace(PTRACE_CONT, thread_, nullptr, nullptr);
    sleep_briefly();
  }
  return false;
}

bool StalledThread::stop_at_write() {
  if (thread_ <= 0 || ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0 || !await_stop()) return false;
  for (int stops = 0; stops < kMaxStops; ++stops) {
    // Not eventually(): many stops follow each other at once.
    if (ptrace(PTRACE_SYSCALL, thread_, nullptr, nullptr) != 0) return false;
    int status = 0;
    if (waitpid(thread_, &status, __WALL) != thread_ || !WIFSTOPPED(status)) return false;
    if (WSTOPSIG(status) == kSyscallStop && system_call(process_, thread_) == SYS_write) return true;
  }
  return false;
}

void StalledThread::release() {
  if (thread_ <= 0) return;
  // Only a stopped thread can be let go; one that is not is let go when we end.
  ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  thread_ = -1;
}

bool StalledThread::await_end() {
  if (thread_ <= 0) return false;
  const bool ended = eventually([&] {
    int status = 0;
    const pid_t waited = waitpid(thread_, &status, __WALL | WNOHANG);
    return (waited == thread_ && !WIFSTOPPED(status)) || (waited < 0 && errno == ECHILD);
  });
  if (ended) thread_ = -1;
  return ended;
}

}  // namespace lockstep::end_to_end
