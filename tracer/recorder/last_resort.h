// What happens to the command when the recorder itself breaks: out of memory, an exception that nobody
// caught, a crash. The command is then run, or waited for, with nothing but fork, exec and wait.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

namespace lockstep::tracer::record {

struct Ending;

// Those that the recorder deals with when it crashes itself.
inline constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};

// Signals as they were before the recorder touched them: what the command is to get.
struct OriginalSignals {
  sigset_t mask{};
  struct sigaction child {
  }, pipe{}, file_size{};
  std::array<struct sigaction, kCrashes.size()> crashes{};

  // SIGCHLD is set to its default (a parent that ignores it hands that down, and the kernel would then throw
  // the command's exit code away); SIGPIPE and SIGXFSZ are ignored: what can't be written is an error.
  // Those of kCrashes are only noted: arm_last_resort() sets them, and exec makes the default of a handler,
  // also where the command would have found the signal ignored.
  static OriginalSignals replace();
  void restore() const;
};

// From here on the process ends as the command does, whatever happens to it: std::terminate, SIGSEGV, SIGBUS,
// SIGFPE, SIGILL, SIGSYS and SIGABRT lead to take_over(). The words of the command and `signals` have to live
// as long as the process.
void arm_last_resort(const std::vector<std::string>& command, const OriginalSignals& signals);
// The command runs as this process, or has ended: what take_over() then waits for, or ends as.
void command_started(pid_t process);
void command_ended(const Ending& ending);

// Runs the command in this process's place if it has not been started, else waits for it and ends as it did.
// Allocates nothing.
[[noreturn]] void take_over() noexcept;

// Runs the command in this process's place. Returns only if it can't be executed: errno.
int become_command() noexcept;

}  // namespace lockstep::tracer::record
