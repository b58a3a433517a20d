#include "tracer/record/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace lockstep::tracer::record {

namespace {

// What people, terminals and batch systems send to jobs. Stopping and continuing reaches the whole process
// group as it is.
constexpr std::array kPassedOn{SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1,
                               SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

StartFailure start_failure(const std::string& command, int reason) {
  struct stat status {};
  const bool named = command.find('/') != std::string::npos && stat(command.c_str(), &status) == 0;
  if (named && S_ISDIR(status.st_mode))
    return {kNotExecutable, fmt::format("cannot run '{}': it is a directory", command)};
  if (named && reason == EACCES && (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
    return {
        kNotExecutable,
        fmt::format("cannot run '{}': it is not executable; chmod +x makes it so, or put its interpreter in "
                    "front of it, as in python {}",
                    command, command)};
  if (reason != ENOENT && reason != ENOTDIR) {
    return {kNotExecutable, fmt::format("cannot run '{}': {}", command, strerror(reason))};
  }
  if (command.find('/') == std::string::npos) {
    return {kNotFound, fmt::format("cannot run '{}': there is no such command in PATH", command)};
  }
  return {kNotFound,
          fmt::format("cannot run '{}': it does not exist, or the interpreter in its first line doesn't",
                      command)};
}

// If not, errno says why.
bool is_executable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  if (S_ISDIR(status.st_mode)) {
    errno = EACCES;
    return false;
  }
  return access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<StartFailure> look_up(const std::string& command) {
  if (command.find('/') != std::string::npos) {
    if (is_executable(command)) return std::nullopt;
    return start_failure(command, errno);
  }
  const char* variable = getenv("PATH");
  std::string_view path = variable != nullptr ? variable : "/bin:/usr/bin";
  int reason = ENOENT;
  while (true) {
    const std::size_t colon = path.find(':');
    const std::string_view folder = path.substr(0, colon);
    const std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, command);
    if (is_executable(candidate)) return std::nullopt;
    if (errno == EACCES) reason = EACCES;
    if (colon == std::string_view::npos) return start_failure(command, reason);
    path.remove_prefix(colon + 1);
  }
}

struct Child::SavedSignals {
  sigset_t mask{};
  struct sigaction child {};
  sigset_t waited_for{};
};

Child::Child() : saved_(new SavedSignals) {
  sigemptyset(&saved_->waited_for);
  for (const int signal : kPassedOn) sigaddset(&saved_->waited_for, signal);
  sigaddset(&saved_->waited_for, SIGCHLD);
  sigprocmask(SIG_BLOCK, &saved_->waited_for, &saved_->mask);
  // A parent that ignores SIGCHLD hands that down, and the kernel would then throw the command's exit code
  // away.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &saved_->child);
}

Child::~Child() {
  // What came too late to be passed on (the second half of a Ctrl-C whose first half ended the command) is
  // not for us.
  const timespec at_once{};
  while (sigtimedwait(&saved_->waited_for, nullptr, &at_once) > 0) {
  }
  sigaction(SIGCHLD, &saved_->child, nullptr);
  sigprocmask(SIG_SETMASK, &saved_->mask, nullptr);
  delete saved_;
}

bool Child::start(const std::vector<std::string>& command, const Environment& environment,
                  StartFailure& failure) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  // Through this pipe the child says why exec failed; a successful exec closes it.
  std::array<int, 2> report{-1, -1};
  if (pipe2(report.data(), O_CLOEXEC) != 0) {
    failure = StartFailure{1, fmt::format("cannot start the command: {}", strerror(errno))};
    return false;
  }
  process_ = fork();
  if (process_ < 0) {
    failure = StartFailure{1, fmt::format("cannot start the command: {}", strerror(errno))};
    close(report[0]);
    close(report[1]);
    return false;
  }
  if (process_ == 0) {
    sigaction(SIGCHLD, &saved_->child, nullptr);
    sigprocmask(SIG_SETMASK, &saved_->mask, nullptr);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    execvp(arguments[0], arguments.data());
    const int reason = errno;
    const ssize_t ignored = write(report[1], &reason, sizeof reason);
    (void)ignored;
    _exit(kNotFound);
  }
  close(report[1]);
  int reason = 0;
  ssize_t length = 0;
  do {
    length = read(report[0], &reason, sizeof reason);
  } while (length < 0 && errno == EINTR);
  close(report[0]);
  if (length != sizeof reason) return true;

  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  failure = start_failure(command[0], reason);
  return false;
}

void Child::pass_on(int signal, int code, pid_t sender) const {
  // What the terminal sends (Ctrl-C, Ctrl-\, hang-up) it sends to the whole process group, the command
  // included: once is enough, since many programs take the second for "at once".
  if (code == SI_KERNEL || sender == process_) return;
  if (signal == SIGWINCH || signal == SIGCONT) return;
  kill(process_, signal);
}

void Child::note_interruption(int signal) {
  const bool ends = signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
  if (!ends || interruption_.has_value()) return;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  interruption_ = Interruption{signal, std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec};
}

Ending Child::wait(const std::function<void()>& every_half_second) {
  constexpr timespec kHalfSecond{0, 500'000'000};
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(process_, &status, WNOHANG);
    if (ended == process_) {
      // What came at the same time as the end: the two halves of one Ctrl-C.
      const timespec at_once{};
      for (int signal = 0; (signal = sigtimedwait(&saved_->waited_for, nullptr, &at_once)) > 0;)
        note_interruption(signal);
      Ending ending;
      ending.interruption = interruption_;
      if (WIFSIGNALED(status)) {
        ending.signal = WTERMSIG(status);
      } else {
        ending.exit_code = WEXITSTATUS(status);
      }
      return ending;
    }
    if (ended < 0 && errno != EINTR) return Ending{1, 0};
    siginfo_t info{};
    const int signal = sigtimedwait(&saved_->waited_for, &info, &kHalfSecond);
    if (signal > 0 && signal != SIGCHLD) {
      if (info.si_pid != process_ || info.si_code == SI_KERNEL) note_interruption(signal);
      pass_on(signal, info.si_code, info.si_pid);
    } else if (signal < 0 && errno == EAGAIN) {
      every_half_second();
    }
  }
}

void die_by(int signal) {
  // The command has left its core file, if any: ours must not replace it.
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

bool was_interrupted(const Ending& ending) {
  return ending.interruption.has_value() && (ending.signal != 0 || ending.exit_code != 0);
}

std::string interruption_in_words(const Ending& ending) {
  const int signal = ending.interruption->signal;
  return signal == SIGINT ? "interrupted by Ctrl-C (SIGINT)"
                          : fmt::format("interrupted by {}", signal_name(signal));
}

}  // namespace lockstep::tracer::record
