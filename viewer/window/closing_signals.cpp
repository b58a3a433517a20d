#include "viewer/window/closing_signals.h"

#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <utility>

namespace lockstep::viewer {

namespace {

sigset_t closing_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

ClosingSignals::ClosingSignals(std::function<void()> close) {
  const sigset_t set = closing_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::thread([this, set, close = std::move(close)] {
    for (int signal = 0;;) {
      if (::sigwait(&set, &signal) != 0) continue;
      if (over_) return;
      if (received_ != 0) end_by(signal);
      received_ = signal;
      close();
    }
  });
}

ClosingSignals::~ClosingSignals() {
  over_ = true;
  ::pthread_kill(waiter_.native_handle(), SIGHUP);  // one of those that it waits for
  waiter_.join();
  const sigset_t set = closing_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::raise(signal);
  std::_Exit(128 + signal);  // not reached: its default is to end
}

}  // namespace lockstep::viewer
