#include "cli/analysis/memory_limit/running_time.h"

#include <signal.h>
#include <sys/time.h>

namespace lockstep::cli {

bool call_by_running_time(void (*handler)(int)) noexcept {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  const itimerval each{{0, 1000}, {0, 1000}};
  return ::sigaction(SIGPROF, &action, nullptr) == 0 && ::setitimer(ITIMER_PROF, &each, nullptr) == 0;
}

void stop_calls_by_running_time() noexcept {
  const itimerval never{};
  ::setitimer(ITIMER_PROF, &never, nullptr);
  // One that is under way would end the process.
  ::signal(SIGPROF, SIG_IGN);
}

}  // namespace lockstep::cli
