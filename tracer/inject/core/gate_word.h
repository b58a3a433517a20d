// The word that says whether events are recorded now, which the hot path reads before anything else. Who
// changes it: control/gate.h.
//
// Open and nobody watching steps is the word 0, so that a call pays for one load and one branch. Otherwise
// the calls take a slower way that keeps the stacks of ranges right: a push that isn't recorded is remembered
// as such, and its pop is ignored; a push that was recorded gets its pop whatever the gate does meanwhile.
// Process groups, names and schemas are recorded always: what comes later refers to them.
#pragma once

#include <atomic>
#include <cstdint>

namespace lockstep::tracer::control {

// Why nothing is recorded now. Any one of them closes the gate.
inline constexpr std::uint32_t kOutsideSteps = 1;  // --steps
inline constexpr std::uint32_t kOutsideTime = 2;   // --delay, --duration
inline constexpr std::uint32_t kStopped = 4;       // record --attach RUN stop
inline constexpr std::uint32_t kFull = 8;          // --max-size
inline constexpr std::uint32_t kClosed = kOutsideSteps | kOutsideTime | kStopped | kFull;
// Not a reason: somebody wants to know when a step begins.
inline constexpr std::uint32_t kWatchSteps = 16;

extern constinit std::atomic<std::uint32_t> gate;

inline std::uint32_t gate_word() noexcept {
  return gate.load(std::memory_order_relaxed);
}
inline bool is_closed(std::uint32_t word) noexcept {
  return (word & kClosed) != 0;
}
inline bool is_recording() noexcept {
  return !is_closed(gate_word());
}

}  // namespace lockstep::tracer::control
