// Ctrl-C in the shell, and being told to end: the window is then closed as its user would close it, so that
// notes and marks are kept.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace lockstep::viewer {

// SIGINT, SIGTERM and SIGHUP are blocked while it lives and waited for on a thread of its own. To be made
// before any other thread, which inherits the block. The first signal calls `close`, from that thread; a
// second one ends the process at once.
class ClosingSignals {
 public:
  explicit ClosingSignals(std::function<void()> close);
  ~ClosingSignals();
  ClosingSignals(const ClosingSignals&) = delete;
  ClosingSignals& operator=(const ClosingSignals&) = delete;

  // The one that came; 0: none.
  int received() const { return received_; }

 private:
  std::atomic<int> received_ = 0;
  std::atomic<bool> over_ = false;
  std::thread waiter_;
};

// Ends the process as the signal would have ended it.
[[noreturn]] void end_by(int signal);

}  // namespace lockstep::viewer
