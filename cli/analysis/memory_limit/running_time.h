// A call for each few milliseconds that this process's threads run: what a thread beside can't be trusted
// with on a machine on which it has to wait for a core.
#pragma once

namespace lockstep::cli {

// `handler` is called as a signal handler (SIGPROF), in a thread that runs at that moment, as often as the
// system's clock ticks while one does (100 to 1,000 times a second). False: the system refuses it.
bool call_by_running_time(void (*handler)(int)) noexcept;
// No call begins after it.
void stop_calls_by_running_time() noexcept;

}  // namespace lockstep::cli
