// Opens and closes the gate (core/gate_word.h), and tells the sources.
#pragma once

#include <cstdint>

#include "tracer/inject/core/gate_word.h"

namespace lockstep::tracer::control {

// Sets and clears bits. If that opens or closes the gate, the sources are told (Source::pause, resume) before
// this returns, by this thread or by the one that is telling them already. Returns whether it did. May be
// called by any thread; only by one that is not inside the tracer (core/tracer.h, Section).
bool change_gate(std::uint32_t set, std::uint32_t clear) noexcept;
// In a forked child, where nobody is telling anyone.
void reset_gate_after_fork() noexcept;

// The word with which this process began: as the plan says, or as it was at the fork. The writer thread comes
// to life later, when the job may have changed the gate already; records of these changes are on their way to
// it.
std::uint32_t first_gate_word() noexcept;
void keep_first_gate_word() noexcept;  // the word of now; before any thread emits

// The number that records of this part have in the place of a source's (ring/ring.h, RecordKind::source).
inline constexpr std::uint16_t kControlRecords = 0xFFFE;
enum class ControlRecord : std::uint8_t { gate_changed = 1, step_began = 2 };
// The body of both.
struct ControlBody {
  std::int64_t step = 0;
  std::uint32_t word = 0;  // the gate's, afterwards
  std::uint32_t unused = 0;
};

}  // namespace lockstep::tracer::control
