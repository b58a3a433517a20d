#include "reference_trainer/launcher/launcher.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

namespace lockstep::trainer {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kCannotExecute = 127;
constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int kPassedSignals[] = {SIGUSR1, SIGUSR2};

sigset_t launcher_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : kEndingSignals) sigaddset(&set, number);
  for (const int number : kPassedSignals) sigaddset(&set, number);
  return set;
}

std::vector<std::string> environment_of(const RankCommand& command, int rank) {
  const std::vector<std::string> own = {fmt::format("RANK={}", rank),
                                        fmt::format("WORLD_SIZE={}", command.ranks),
                                        fmt::format("LOCAL_RANK={}", rank),
                                        fmt::format("LOCAL_WORLD_SIZE={}", command.ranks),
                                        "MASTER_ADDR=127.0.0.1",
                                        fmt::format("MASTER_PORT={}", command.master_port),
                                        "TORCHELASTIC_USE_AGENT_STORE=True",
                                        "TORCHELASTIC_RESTART_COUNT=0"};
  const auto is_ours = [&own](std::string_view variable) {
    return std::any_of(own.begin(), own.end(), [variable](const std::string& entry) {
      return variable.starts_with(std::string_view(entry).substr(0, entry.find('=') + 1));
    });
  };
  std::vector<std::string> all = own;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_ours(*variable)) all.emplace_back(*variable);
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The process has threads (the rendezvous store's): between fork and exec only async-signal-safe calls are
// allowed.
pid_t start_rank(const RankCommand& command, int rank) {
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_of(command, rank);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const sigset_t blocked = launcher_signals();
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != launcher) _exit(kCannotExecute);
  sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  execve(command.executable.c_str(), argument_pointers.data(), environment_pointers.data());
  _exit(kCannotExecute);
}

std::string signal_name(int number) {
  const char* abbreviation = sigabbrev_np(number);
  return abbreviation == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", abbreviation);
}

// The ranks that run, and what became of those that ended.
class Job {
 public:
  explicit Job(int ranks) : running_(static_cast<std::size_t>(ranks), 0) {}

  void started(int rank, pid_t pid) { running_[static_cast<std::size_t>(rank)] = pid; }

  bool any_running() const {
    return std::any_of(running_.begin(), running_.end(), [](pid_t pid) { return pid != 0; });
  }

  void send(int signal) const {
    for (const pid_t pid : running_) {
      if (pid != 0) kill(pid, signal);
    }
  }

  // Takes note of every rank that has ended. Several may have since the last look; a rank that a signal
  // killed is then taken for the first, because the others fail by its loss and not the other way round.
  void reap() {
    std::optional<JobOutcome> first;
    int status = 0;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
      const auto found = std::find(running_.begin(), running_.end(), pid);
      if (found == running_.end()) continue;
      *found = 0;
      const auto rank = found - running_.begin();
      if (WIFSIGNALED(status)) {
        if (first.has_value() && first->exit_code > 128) continue;
        first = JobOutcome{128 + WTERMSIG(status),
                           fmt::format("rank {} was killed by signal {} ({}); the other ranks were ended",
                                       rank, WTERMSIG(status), signal_name(WTERMSIG(status)))};
      } else if (WEXITSTATUS(status) != 0 && !first.has_value()) {
        first = JobOutcome{WEXITSTATUS(status),
                           fmt::format("rank {} exited with code {}; the other ranks were ended", rank,
                                       WEXITSTATUS(status))};
      }
    }
    if (first.has_value() && !failure_.has_value()) failure_ = first;
  }

  const std::optional<JobOutcome>& failure() const { return failure_; }
  void ended_by(int signal) {
    if (!failure_.has_value())
      failure_ = JobOutcome{128 + signal, fmt::format("ended by {}", signal_name(signal))};
  }

 private:
  std::vector<pid_t> running_;  // by rank; 0: has ended
  std::optional<JobOutcome> failure_;
};

constexpr Clock::time_point kNever = Clock::time_point::max();

// Waits for one of the launcher's signals, until `deadline`. 0: the deadline has passed.
int next_signal(Clock::time_point deadline) {
  const sigset_t set = launcher_signals();
  while (true) {
    int number = 0;
    if (deadline == kNever) {
      number = sigwaitinfo(&set, nullptr);
    } else {
      const auto left =
          std::max(std::chrono::nanoseconds(deadline - Clock::now()), std::chrono::nanoseconds(0));
      const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
      number = sigtimedwait(&set, nullptr, &timeout);
    }
    if (number > 0) return number;
    if (errno == EAGAIN) return 0;
  }
}

bool asks_to_end(int signal) {
  return std::find(std::begin(kEndingSignals), std::end(kEndingSignals), signal) != std::end(kEndingSignals);
}

void stand_by(Job& job, std::chrono::milliseconds grace) {
  Clock::time_point deadline = kNever;
  while (job.any_running()) {
    const int signal = next_signal(deadline);
    if (signal == 0) {
      job.send(SIGKILL);
      deadline = kNever;
    } else if (signal == SIGCHLD) {
      const bool had_failed = job.failure().has_value();
      job.reap();
      if (job.failure().has_value() && !had_failed) {
        job.send(SIGTERM);
        deadline = Clock::now() + grace;
      }
    } else {
      job.send(signal);
      if (asks_to_end(signal)) {
        job.ended_by(signal);
        if (deadline == kNever) deadline = Clock::now() + grace;
      }
    }
  }
}

}  // namespace

void block_launcher_signals() {
  const sigset_t set = launcher_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

Result<JobOutcome> run_ranks(const RankCommand& command) {
  Job job(command.ranks);
  for (int rank = 0; rank < command.ranks; ++rank) {
    const pid_t pid = start_rank(command, rank);
    if (pid < 0) {
      const int reason = errno;
      job.send(SIGKILL);
      stand_by(job, command.grace);
      return Error{fmt::format("cannot start rank {}: {}", rank, std::strerror(reason))};
    }
    job.started(rank, pid);
  }
  stand_by(job, command.grace);
  return job.failure().value_or(JobOutcome{});
}

}  // namespace lockstep::trainer
