// How work that nobody waits for any more ends: what takes long looks between ranks, operations or steps
// whether it was asked to, and is left by an exception. import_job(), open_job() and analyze() make an error
// of it; no caller of theirs sees it.
#pragma once

#include <exception>
#include <stop_token>

namespace lockstep::analyzer {

struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

// An atomic load; of a token that nobody can ask, less.
inline void throw_if_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped();
}

}  // namespace lockstep::analyzer
