// Whether events are recorded now: one word that the hot path reads before anything else.
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

// Sets and clears bits. If that opens or closes the gate, the sources are told (Source::pause, resume) before
// this returns, by this thread or by the one that is telling them already. Returns whether it did. May be
// called by any thread; only by one that is not inside the tracer (recorder.h, Section).
bool change_gate(std::uint32_t set, std::uint32_t clear) noexcept;
// In a forked child, where nobody is telling anyone.
void reset_gate_after_fork() noexcept;

// The word with which this process began: as the plan says, or as it was at the fork. The writer thread comes
// to life later, when the job may have changed the gate already; records of these changes are on their way to
// it.
std::uint32_t first_gate_word() noexcept;
void keep_first_gate_word() noexcept;  // the word of now; before any thread emits

// The number that records of this part have in the place of a source's (ring.h, RecordKind::source).
inline constexpr std::uint16_t kControlRecords = 0xFFFE;
enum class ControlRecord : std::uint8_t { gate_changed = 1, step_began = 2 };
// The body of both.
struct ControlBody {
  std::int64_t step = 0;
  std::uint32_t word = 0;  // the gate's, afterwards
  std::uint32_t unused = 0;
};

}  // namespace lockstep::tracer::control
