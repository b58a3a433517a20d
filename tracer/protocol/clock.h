// Time inside a traced process: cheap ticks on the hot path, nanoseconds of CLOCK_MONOTONIC in the file.
//
// Ticks are the processor's time-stamp counter where it is invariant and the kernel trusts it, else
// CLOCK_MONOTONIC itself. The writer thread reads all clocks together at every drain; ticks between two
// readings are converted along the straight line between them, so drift of the counter and slewing of the
// clock are followed.
#pragma once

#include <time.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/events/event.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace lockstep::tracer {

enum class TickSource : std::uint8_t { monotonic, tsc };

// What this machine can do. `current_clocksource` is the kernel's choice ("tsc", "kvm-clock", "hpet", …;
// nullptr if it could not be read): the kernel drops to hpet or acpi_pm when it has found the counter
// unstable.
TickSource choose_tick_source(bool invariant_tsc, const char* current_clocksource) noexcept;
// The same for the machine we run on. LOCKSTEP_CLOCK=monotonic overrules it.
TickSource detect_tick_source() noexcept;
const char* to_string(TickSource source) noexcept;

inline std::uint64_t read_monotonic() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t read_ticks(TickSource source) noexcept {
#if defined(__x86_64__)
  if (source == TickSource::tsc) return __rdtsc();
#endif
  (void)source;
  return read_monotonic();
}

// The same instant on all clocks.
struct ClockReading {
  std::uint64_t ticks = 0;
  trace::Nanoseconds monotonic = 0;
  trace::Nanoseconds realtime = 0;
  trace::Nanoseconds monotonic_raw = 0;
};

// Reads the clocks close together: the best of a few attempts, so that an interrupt between two reads doesn't
// count.
ClockReading read_clocks(TickSource source) noexcept;

// Piecewise linear conversion of ticks to CLOCK_MONOTONIC.
class ClockConverter {
 public:
  // Readings must come in order; one that doesn't advance both clocks is ignored. True if it was taken.
  bool add(const ClockReading& reading) noexcept;

  // Nanoseconds of CLOCK_MONOTONIC at `ticks`. Between readings exact to a nanosecond and never decreasing;
  // before the oldest kept reading and after the newest the nearest line is continued. Precondition: one
  // reading was added.
  trace::Nanoseconds convert(std::uint64_t ticks) const noexcept {
    std::size_t i = 0;
    while (i + 1 < count_ && ticks < segments_[i].ticks) ++i;
    const Segment& segment = segments_[i];
    if (ticks >= segment.ticks) return segment.monotonic + scale(ticks - segment.ticks, segment.slope);
    return segment.monotonic - scale(segment.ticks - ticks, segment.slope);
  }

 private:
  struct Segment {
    std::uint64_t ticks = 0;           // where it begins
    trace::Nanoseconds monotonic = 0;  // the same instant
    std::uint64_t slope = 0;           // nanoseconds per tick, in units of 2^-40
  };
  static constexpr std::size_t kKept = 4;
  static constexpr unsigned kSlopeBits = 40;
  static constexpr std::uint64_t kOneNanosecondPerTick = std::uint64_t{1} << kSlopeBits;

  // value · slope · 2^-40, rounded down.
  static trace::Nanoseconds scale(std::uint64_t value, std::uint64_t slope) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<trace::Nanoseconds>((Wide{value} * slope) >> kSlopeBits);
  }

  std::array<Segment, kKept> segments_{};  // newest first
  std::size_t count_ = 0;
  ClockReading last_{};
};

}  // namespace lockstep::tracer
