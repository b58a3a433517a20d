#include "tracer/protocol/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace lockstep::tracer {

namespace {

bool has_invariant_tsc() noexcept {
#if defined(__x86_64__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  // Advanced power management leaf, EDX bit 8: the counter runs at a constant rate in all power states.
  if (__get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (edx & (1U << 8U)) != 0;
#else
  return false;
#endif
}

trace::Nanoseconds read_clock(clockid_t clock) noexcept {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return trace::kUnknownTime;
  return static_cast<trace::Nanoseconds>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

const char* to_string(TickSource source) noexcept {
  return source == TickSource::tsc ? "tsc" : "clock_monotonic";
}

TickSource choose_tick_source(bool invariant_tsc, const char* current_clocksource) noexcept {
  if (!invariant_tsc) return TickSource::monotonic;
  if (current_clocksource == nullptr) return TickSource::tsc;
  for (const char* distrusted : {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"}) {
    if (std::strcmp(current_clocksource, distrusted) == 0) return TickSource::monotonic;
  }
  return TickSource::tsc;
}

TickSource detect_tick_source() noexcept {
  const char* wish = std::getenv("LOCKSTEP_CLOCK");
  if (wish != nullptr && std::strcmp(wish, "monotonic") == 0) return TickSource::monotonic;
  std::array<char, 64> text{};
  bool known = false;
  const int file =
      open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t length = read(file, text.data(), text.size() - 1);
    close(file);
    if (length > 0) {
      text[std::strcspn(text.data(), "\n")] = '\0';
      known = true;
    }
  }
  return choose_tick_source(has_invariant_tsc(), known ? text.data() : nullptr);
}

ClockReading read_clocks(TickSource source) noexcept {
  ClockReading best;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 4; ++attempt) {
    ClockReading reading;
    const std::uint64_t before = read_ticks(source);
    reading.monotonic = read_clock(CLOCK_MONOTONIC);
    const std::uint64_t after = read_ticks(source);
    reading.realtime = read_clock(CLOCK_REALTIME);
    reading.monotonic_raw = read_clock(CLOCK_MONOTONIC_RAW);
    if (after - before >= shortest) continue;
    shortest = after - before;
    // With CLOCK_MONOTONIC as the tick source the two are the same number, and the conversion the identity.
    reading.ticks = source == TickSource::tsc ? before + (after - before) / 2
                                              : static_cast<std::uint64_t>(reading.monotonic);
    best = reading;
  }
  return best;
}

bool ClockConverter::add(const ClockReading& reading) noexcept {
  if (count_ == 0) {
    segments_[0] = Segment{reading.ticks, reading.monotonic, kOneNanosecondPerTick};
    count_ = 1;
    last_ = reading;
    return true;
  }
  if (reading.ticks <= last_.ticks || reading.monotonic <= last_.monotonic) return false;
  __extension__ using Wide = unsigned __int128;
  const auto elapsed = static_cast<std::uint64_t>(reading.monotonic - last_.monotonic);
  const auto slope =
      static_cast<std::uint64_t>((Wide{elapsed} << kSlopeBits) / (reading.ticks - last_.ticks));
  // The newest segment began at the last reading with a guessed slope: now it is known. Its end is the new
  // reading, where the next segment begins with the same slope until the reading after that corrects it.
  segments_[0].slope = slope;
  for (std::size_t i = kKept - 1; i > 0; --i) segments_[i] = segments_[i - 1];
  segments_[0] = Segment{reading.ticks, reading.monotonic, slope};
  if (count_ < kKept) ++count_;
  last_ = reading;
  return true;
}

}  // namespace lockstep::tracer
