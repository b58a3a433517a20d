#include "tracer/doctor/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

namespace lockstep::tracer::doctor {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxOutput = std::size_t{1} << 20U;

struct Pipe {
  int from = -1;
  int to = -1;
  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    from = ends[0];
    to = ends[1];
    return true;
  }
  void close_writer() {
    if (to >= 0) close(to);
    to = -1;
  }
  ~Pipe() {
    if (from >= 0) close(from);
    close_writer();
  }
};

int left_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) + 1 : 0;
}

// Reads what comes from the descriptors until all are closed or the time is over. True if all are closed.
template <std::size_t N>
bool collect(std::array<pollfd, N> descriptors, const std::array<std::string*, N>& texts,
             Clock::time_point deadline) {
  std::size_t open = N;
  while (open > 0) {
    const int wait = left_until(deadline);
    if (wait == 0) return false;
    const int ready = poll(descriptors.data(), N, wait);
    if (ready < 0 && errno != EINTR) return false;
    for (std::size_t i = 0; i < N && ready > 0; ++i) {
      if (descriptors[i].revents == 0) continue;
      std::array<char, 4096> part{};
      const ssize_t length = read(descriptors[i].fd, part.data(), part.size());
      if (length < 0 && errno == EINTR) continue;
      if (length <= 0) {
        descriptors[i].fd = -1;
        --open;
      } else if (texts[i]->size() < kMaxOutput) {
        texts[i]->append(part.data(), static_cast<std::size_t>(length));
      }
    }
  }
  return true;
}

// The wait status, or nothing if the process had to be killed because the time was over.
std::optional<int> wait_for(pid_t child, bool in_time, Clock::time_point deadline) {
  int status = 0;
  while (in_time) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (left_until(deadline) == 0) break;
    poll(nullptr, 0, 5);
  }
  kill(-child, SIGKILL);  // it leads a group of its own
  kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return std::nullopt;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& argv, std::uint32_t milliseconds) {
  CommandResult result;
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  Pipe output;
  Pipe error;
  if (argv.empty() || !output.open() || !error.open()) return result;
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return result;
  if (child == 0) {
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(output.to, STDOUT_FILENO);
    dup2(error.to, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  setpgid(child, child);
  output.close_writer();
  error.close_writer();
  const bool closed = collect<2>({pollfd{output.from, POLLIN, 0}, pollfd{error.from, POLLIN, 0}},
                                 {&result.output, &result.error}, deadline);
  const std::optional<int> status = wait_for(child, closed, deadline);
  result.timed_out = !status.has_value();
  if (status.has_value() && WIFEXITED(*status)) result.exit_code = WEXITSTATUS(*status);
  result.started = result.timed_out || result.exit_code != 127;
  return result;
}

ChildAnswer ask_child(const std::function<std::string()>& work, std::uint32_t milliseconds) {
  ChildAnswer result;
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  Pipe answer;
  pid_t child = -1;
  if (!answer.open() || (child = fork()) < 0) {
    result.problem = fmt::format("cannot start a process: {}", strerror(errno));
    return result;
  }
  if (child == 0) {
    setpgid(0, 0);
    // Libraries print; what they print is not for our user.
    const int nothing = open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
    const std::string text = work();
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t written = write(answer.to, text.data() + done, text.size() - done);
      if (written <= 0 && errno != EINTR) _exit(1);
      if (written > 0) done += static_cast<std::size_t>(written);
    }
    _exit(0);
  }
  setpgid(child, child);
  answer.close_writer();
  const bool closed = collect<1>({pollfd{answer.from, POLLIN, 0}}, {&result.answer}, deadline);
  const std::optional<int> status = wait_for(child, closed, deadline);
  if (!status.has_value()) {
    result.problem = fmt::format("took longer than {} s", milliseconds / 1000);
  } else if (WIFSIGNALED(*status)) {
    result.problem = fmt::format("crashed ({})", strsignal(WTERMSIG(*status)));
  } else if (WEXITSTATUS(*status) != 0) {
    result.problem = fmt::format("ended with exit code {}", WEXITSTATUS(*status));
  }
  result.finished = result.problem.empty();
  return result;
}

}  // namespace lockstep::tracer::doctor
