#include "tracer/recorder/last_resort.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <utility>

#include "base/standard_streams.h"
#include "tracer/recorder/child.h"
#include "tracer/recorder/messages.h"

namespace lockstep::tracer::record {
namespace {

constexpr timespec kMoment{0, 10'000'000};
constexpr int kMomentsToBeTold = 200;

struct State {
  std::vector<char*> words;  // of the command, and a null pointer
  const OriginalSignals* signals = nullptr;
  std::atomic<pid_t> process{-1};
  std::atomic<bool> ended{false};
  std::atomic<int> exit_code{0}, signal{0};
  std::atomic<pid_t> taken_over_by{0};  // a thread
};
State state;  // one command a process

alignas(16) std::array<char, 64 << 10U> crash_stack;

[[noreturn]] void end_as(int exit_code, int signal) {
  if (signal != 0) die_by(signal);
  _exit(signal != 0 ? 128 + signal : exit_code);
}

[[noreturn]] void end_as_known() {
  end_as(state.exit_code, state.signal);
}

void say_in_a_crash(std::string_view message) {
  if (!is_quiet()) write_to_stderr(message);
}

void on_crash(int /*signal*/) {
  take_over();
}

// Another thread may be about to note how the command ended.
void wait_to_be_told() {
  for (int i = 0; i < kMomentsToBeTold && !state.ended; ++i) nanosleep(&kMoment, nullptr);
}

// Asked again where it fails, which a sandbox may do.
void set_action(int signal, const struct sigaction& action) {
  if (sigaction(signal, &action, nullptr) != 0) sigaction(signal, &action, nullptr);
}

}  // namespace

OriginalSignals OriginalSignals::replace() {
  OriginalSignals original;
  pthread_sigmask(SIG_SETMASK, nullptr, &original.mask);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, &original.child);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &original.pipe);
  sigaction(SIGXFSZ, &action, &original.file_size);
  for (std::size_t i = 0; i < kCrashes.size(); ++i) sigaction(kCrashes[i], nullptr, &original.crashes[i]);
  return original;
}

// With its signals blocked a shell waits for ever: the mask, too, is asked for again.
void OriginalSignals::restore() const {
  for (const auto& [signal, action] :
       {std::pair{SIGCHLD, &child}, std::pair{SIGPIPE, &pipe}, std::pair{SIGXFSZ, &file_size}})
    set_action(signal, *action);
  for (std::size_t i = 0; i < kCrashes.size(); ++i) set_action(kCrashes[i], crashes[i]);
  if (pthread_sigmask(SIG_SETMASK, &mask, nullptr) != 0) pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

void arm_last_resort(const std::vector<std::string>& command, const OriginalSignals& signals) {
  state.words.clear();
  for (const std::string& word : command) state.words.push_back(const_cast<char*>(word.c_str()));
  state.words.push_back(nullptr);
  state.signals = &signals;
  state.process = -1;
  state.ended = false;
  std::set_terminate(take_over);
  stack_t stack{};
  stack.ss_sp = crash_stack.data();
  stack.ss_size = crash_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : kCrashes) sigaction(signal, &action, nullptr);
}

void command_started(pid_t process) {
  state.process = process;
}

void command_ended(const Ending& ending) {
  state.exit_code = ending.exit_code;
  state.signal = ending.signal;
  state.ended = true;
}

int become_command() noexcept {
  if (state.signals != nullptr) state.signals->restore();
  execvp(state.words[0], state.words.data());
  return errno;
}

void take_over() noexcept {
  pid_t nobody = 0;
  const pid_t self = gettid();
  if (!state.taken_over_by.compare_exchange_strong(nobody, self)) {
    wait_to_be_told();
    if (state.ended) end_as_known();
    // One crash is enough to lose what is recorded; one while it is dealt with leaves nothing to try.
    if (nobody == self) _exit(1);
    while (true) pause();
  }
  if (state.ended) {
    say_in_a_crash(
        "lockstep record: the recorder failed after the command had ended; the run may be incomplete.\n");
    end_as_known();
  }
  if (state.process < 0) {
    say_in_a_crash("lockstep record: the recorder failed; the command runs unrecorded.\n");
    const int reason = become_command();
    write_to_stderr("lockstep record: the command could not be started either.\n");
    _exit(reason == ENOENT || reason == ENOTDIR ? 127 : 126);
  }
  say_in_a_crash("lockstep record: the recorder failed; the command goes on.\n");
  const sigset_t held_back = held_back_signals();
  pthread_sigmask(SIG_BLOCK, &held_back, nullptr);
  for (int failures = 0; failures < kMomentsToBeTold;) {
    int status = 0;
    const pid_t ended = waitpid(state.process, &status, WNOHANG);
    if (ended == state.process)
      end_as(WIFEXITED(status) ? WEXITSTATUS(status) : 1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    if (state.ended) end_as_known();  // another thread waited for it
    if (ended < 0 && errno != EINTR) ++failures;
    siginfo_t info{};
    if (sigtimedwait(&held_back, &info, &kMoment) > 0) pass_on(info, state.process);
  }
  _exit(1);
}

}  // namespace lockstep::tracer::record
