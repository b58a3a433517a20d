#include "tracer/recorder/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
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

sigset_t held_back_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kPassedOn) sigaddset(&signals, signal);
  sigaddset(&signals, SIGCHLD);
  return signals;
}

void pass_on(const siginfo_t& signal, pid_t process) {
  // What the terminal sends (Ctrl-C, Ctrl-\, hang-up) it sends to the whole process group, the command
  // included: once is enough, since many programs take the second for "at once".
  if (signal.si_code == SI_KERNEL || signal.si_pid == process) return;
  if (signal.si_signo == SIGWINCH || signal.si_signo == SIGCONT || signal.si_signo == SIGCHLD) return;
  kill(process, signal.si_signo);
}

Child::Child(const OriginalSignals& original) : original_(original) {
  const sigset_t held_back = held_back_signals();
  sigprocmask(SIG_BLOCK, &held_back, nullptr);
}

Child::~Child() {
  // What came too late to be passed on (the second half of a Ctrl-C whose first half ended the command) is
  // not for us.
  const sigset_t held_back = held_back_signals();
  const timespec at_once{};
  while (sigtimedwait(&held_back, nullptr, &at_once) > 0) {
  }
  // The command's ending is ours from now on: a signal that comes before we have said so must not replace it.
  if (has_ended_) return;
  sigprocmask(SIG_SETMASK, &original_.mask, nullptr);
}

namespace {

// Ours, and `added` in the place of what has the same name; and the words that hold it.
struct WholeEnvironment {
  explicit WholeEnvironment(const Child::Environment& added) {
    for (const auto& [name, value] : added) words.push_back(name + "=" + value);
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view word = *variable;
      const bool replaced = std::any_of(added.begin(), added.end(), [word](const auto& each) {
        return word.starts_with(each.first) && word.substr(each.first.size()).starts_with('=');
      });
      if (!replaced) variables.push_back(*variable);
    }
    for (std::string& word : words) variables.push_back(word.data());
    variables.push_back(nullptr);
  }
  std::vector<std::string> words;
  std::vector<char*> variables;
};

// What the new process says through the pipe: errno of exec, or this before it tries again.
constexpr int kAgainWithoutEnvironment = -1;

std::optional<int> read_number(int file) {
  int number = 0;
  ssize_t length = 0;
  do {
    length = read(file, &number, sizeof number);
  } while (length < 0 && errno == EINTR);
  return length == sizeof number ? std::optional(number) : std::nullopt;
}

void write_number(int file, int number) {
  const ssize_t ignored = write(file, &number, sizeof number);
  (void)ignored;
}

}  // namespace

Child::Start Child::start(const std::vector<std::string>& command, const Environment& environment,
                          StartFailure& failure) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const WholeEnvironment with(environment);
  // Through this pipe the child says why exec failed; a successful exec closes it. Without it, all that is
  // known is the exit code.
  std::array<int, 2> report{-1, -1};
  if (pipe2(report.data(), O_CLOEXEC) != 0) report = {-1, -1};
  // Nothing may take over between the fork and our knowing of it: the command would run twice.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  process_ = fork();
  if (process_ > 0) command_started(process_);
  if (process_ != 0) sigprocmask(SIG_SETMASK, &before, nullptr);
  if (process_ < 0) {
    failure = StartFailure{kNotExecutable, fmt::format("cannot start another process: {}", strerror(errno))};
    close(report[0]);
    close(report[1]);
    return Start::no_process;
  }
  if (process_ == 0) {
    original_.restore();
    execvpe(arguments[0], arguments.data(), with.variables.data());
    int reason = errno;
    if (reason == E2BIG && !environment.empty()) {
      write_number(report[1], kAgainWithoutEnvironment);
      execvp(arguments[0], arguments.data());
      reason = errno;
    }
    write_number(report[1], reason);
    _exit(reason == ENOENT || reason == ENOTDIR ? kNotFound : kNotExecutable);
  }
  // Ours has to be closed, or there is no end to read: asked again, since nobody else opens files yet.
  if (close(report[1]) != 0) close(report[1]);
  std::optional<int> reason = read_number(report[0]);
  const bool again = reason == kAgainWithoutEnvironment;
  if (again) reason = read_number(report[0]);
  close(report[0]);
  if (!reason) return again ? Start::without_environment : Start::started;

  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  failure = start_failure(command[0], *reason);
  command_ended(Ending{failure.exit_code, 0});
  return Start::cannot_execute;
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
  // waitpid can't fail but for a signal; where it does all the same, it is asked again.
  constexpr int kMaxFailures = 100;
  const sigset_t held_back = held_back_signals();
  int failures = 0;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(process_, &status, WNOHANG);
    if (ended == process_) {
      has_ended_ = true;
      // What came at the same time as the end: the two halves of one Ctrl-C.
      const timespec at_once{};
      for (int signal = 0; (signal = sigtimedwait(&held_back, nullptr, &at_once)) > 0;)
        note_interruption(signal);
      Ending ending;
      ending.interruption = interruption_;
      if (WIFSIGNALED(status)) {
        ending.signal = WTERMSIG(status);
      } else {
        ending.exit_code = WEXITSTATUS(status);
      }
      command_ended(ending);
      return ending;
    }
    if (ended < 0 && errno != EINTR && ++failures > kMaxFailures) return Ending{1, 0};
    siginfo_t info{};
    const int signal = sigtimedwait(&held_back, &info, &kHalfSecond);
    if (signal > 0 && signal != SIGCHLD) {
      if (info.si_pid != process_ || info.si_code == SI_KERNEL) note_interruption(signal);
      pass_on(info, process_);
    } else if (signal < 0 && errno == EAGAIN) {
      every_half_second();
    } else if (signal < 0 && errno != EINTR) {
      constexpr timespec kMoment{0, 10'000'000};
      nanosleep(&kMoment, nullptr);
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
