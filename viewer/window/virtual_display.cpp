#include "viewer/window/virtual_display.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace lockstep::viewer {

namespace {

constexpr int kStartMilliseconds = 20'000;  // a loaded machine takes its time
constexpr int kFirstDisplay = 100;
constexpr int kDisplays = 50'000;
constexpr int kMaxAttempts = 4;
constexpr int kNotFound = 127;  // exit code of the child where exec failed

Error missing() {
  return Error{
      "no display, and Xvfb, which would stand in for one, is not installed: install the package xvfb, or "
      "set DISPLAY"};
}

// Reads the line that Xvfb writes once it is ready: the number of the display. "" where it ended without one.
std::string read_number(int file) {
  std::string line;
  while (line.empty() || line.back() != '\n') {
    pollfd waiting{file, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kStartMilliseconds);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {};
    char byte = 0;
    const ssize_t got = ::read(file, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    line += byte;
  }
  line.pop_back();
  return line;
}

void end(pid_t process) {
  ::kill(process, SIGTERM);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
}

struct Started {
  pid_t process = -1;
  std::string name;      // "" where it did not start
  bool missing = false;  // there is no Xvfb
};

Result<Started> start_on(int number, const std::string& screen) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{fmt::format("can't start Xvfb: {}", std::strerror(errno))};
  const std::string report_to = std::to_string(ends[1]);
  const std::string display = fmt::format(":{}", number);
  const char* const arguments[] = {
      "Xvfb",         display.c_str(), "-displayfd", report_to.c_str(), "-screen", "0",
      screen.c_str(), "-nolisten",     "tcp",        "-noreset",        nullptr};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const int reason = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return Error{fmt::format("can't start Xvfb: {}", std::strerror(reason))};
  }
  if (child == 0) {
    // Only async-signal-safe calls from here to exec.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);
    ::fcntl(ends[1], F_SETFD, 0);
    const int null = ::open("/dev/null", O_RDWR);
    if (null >= 0) {
      ::dup2(null, STDIN_FILENO);
      ::dup2(null, STDOUT_FILENO);
      ::dup2(null, STDERR_FILENO);
    }
    ::execvp("Xvfb", const_cast<char* const*>(arguments));
    ::_exit(kNotFound);
  }
  ::close(ends[1]);
  const std::string reported = read_number(ends[0]);
  ::close(ends[0]);
  if (!reported.empty()) return Started{child, ":" + reported, false};
  ::kill(child, SIGTERM);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return Started{-1, "", WIFEXITED(status) && WEXITSTATUS(status) == kNotFound};
}

}  // namespace

Result<VirtualDisplay> VirtualDisplay::start(int width, int height) {
  const std::string screen = fmt::format("{}x{}x24", width, height);
  // Not the lowest number that is free: a server that is just ending still removes the files of its number,
  // from under the one that took it over. No two processes that run at a time try the same first.
  static std::atomic<int> attempts{0};
  for (int i = 0; i < kMaxAttempts; ++i) {
    const int number = kFirstDisplay + (::getpid() * kMaxAttempts + attempts++) % kDisplays;
    Result<Started> started = start_on(number, screen);
    if (!started.ok()) return started.error();
    if (!started.value().name.empty()) return VirtualDisplay(started.value().process, started.value().name);
    if (started.value().missing) return missing();
  }
  return Error{
      fmt::format("Xvfb does not start on a screen of {}: run `Xvfb :99 -screen 0 {}` by hand to see why",
                  screen, screen)};
}

VirtualDisplay::VirtualDisplay(VirtualDisplay&& other) noexcept
    : process_(std::exchange(other.process_, -1)), name_(std::move(other.name_)) {}

VirtualDisplay::~VirtualDisplay() {
  if (process_ > 0) end(process_);
}

}  // namespace lockstep::viewer
