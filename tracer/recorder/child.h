// The recorded command as a child process: started in our process group, so that it owns the terminal as it
// would without us, and outliving us if we are killed.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tracer/recorder/last_resort.h"

namespace lockstep::tracer::record {

// A signal by which somebody asked the command to end: Ctrl-C, a scheduler's SIGTERM, a terminal that closed.
struct Interruption {
  int signal = 0;
  std::int64_t realtime = 0;  // when it came, ns since 1970
};

// How a process ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;  // not 0: it died by this signal, and exit_code means nothing
  std::optional<Interruption> interruption = std::nullopt;  // the first, if any came while it ran
};

// A command that could not be started: 127 if it doesn't exist, 126 if it can't be executed, as in a shell.
struct StartFailure {
  int exit_code = 0;
  std::string message;
};

// Looks a command up as execvp will: nothing if it is there, else why it can't be started. Asked before
// anything is touched, so that a misspelt command costs nothing; what exec says in the end counts.
std::optional<StartFailure> look_up(const std::string& command);

class Child {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  // From here until the object ends, the signals that a user or a batch system sends to a job are held back
  // from this process, to be passed on; once the command has ended, until this process does. One Child at a
  // time; the process must have one thread. `original` has to outlive it.
  explicit Child(const OriginalSignals& original);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Start {
    started,
    without_environment,  // it was too large together with the arguments
    cannot_execute,       // `failure` says why
    no_process,           // there can be no other one, as `failure` says: only become_command() is left
  };
  // Starts the command with `environment` added to ours.
  Start start(const std::vector<std::string>& command, const Environment& environment, StartFailure& failure);

  // Waits for the end of the command, passing signals on. `every_half_second` is called that often, and must
  // not throw.
  Ending wait(const std::function<void()>& every_half_second);

  pid_t process() const { return process_; }

 private:
  void note_interruption(int signal);

  const OriginalSignals& original_;
  pid_t process_ = -1;
  std::optional<Interruption> interruption_;
  bool has_ended_ = false;
};

// What people, terminals and batch systems send to jobs, and SIGCHLD: held back, to be waited for.
sigset_t held_back_signals();
// Sends the command what was sent to us, but for what it gets anyhow: from a terminal, to its process group.
void pass_on(const siginfo_t& signal, pid_t process);

// Ends this process by the same signal, so that whoever waits for it sees what became of the command. Returns
// only if the signal cannot kill.
void die_by(int signal);

// "SIGSEGV"; "signal 77" for numbers without a name.
std::string signal_name(int signal);

// Whether the command ended because of it: it ended by that signal, or not well.
bool was_interrupted(const Ending& ending);
// "interrupted by Ctrl-C (SIGINT)", "interrupted by SIGTERM". Precondition: there is one.
std::string interruption_in_words(const Ending& ending);

}  // namespace lockstep::tracer::record
