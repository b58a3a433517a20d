// From what each thread had run and waited at single instants to how the rank's threads ran in between: pure
// arithmetic on fixed memory, for the sampling thread.
//
// The kernel counts a thread's wait for a core when it is over. So intervals are held for a while, and a wait
// that is told is given back to those of them in which the thread did not run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "trace/events/event.h"

namespace lockstep::tracer::scheduling {

inline constexpr std::size_t kMaxFollowed = 48;  // threads
inline constexpr std::size_t kHeldIntervals = 32;

// What the training threads did between two points.
struct RunInterval {
  trace::Nanoseconds begin = 0;
  trace::Nanoseconds end = 0;
  std::uint64_t on_cpu_ns = 0;    // Σ over threads
  std::uint64_t runnable_ns = 0;  // Σ over threads: ready, and waited for a core
  std::uint64_t waited_ns = 0;    // of the thread that waited longest, at most the interval
};

class RunProfile {
 public:
  // Nobody looked until now: what was before is not part of what follows. Intervals that are held stay.
  void begin(trace::Nanoseconds time) noexcept { last_ = time; }
  trace::Nanoseconds last() const noexcept { return last_; }

  // A thread is followed from now on in this slot. What it has run before is its own affair unless it was
  // born since `born_after`: then it was part of the intervals since.
  void follow(std::size_t slot, std::uint64_t on_cpu_ns, std::uint64_t waited_ns,
              std::optional<trace::Nanoseconds> born_after) noexcept;

  // The interval from the last instant to `time` begins to be described; false if it would be empty. All
  // threads follow, then end_interval().
  bool begin_interval(trace::Nanoseconds time) noexcept;
  // It has run so long so far, in all. False if not at all in this interval.
  bool ran(std::size_t slot, std::uint64_t on_cpu_ns) noexcept;
  // Whether the thread's wait should be read now: it runs again after it did not, or did not run all the
  // time.
  bool should_ask(std::size_t slot) const noexcept;
  void waited(std::size_t slot, std::uint64_t waited_ns) noexcept;  // has waited so far, in all

  // The oldest interval, once nothing more will be learnt of it, or `all`.
  std::optional<RunInterval> take(bool all) noexcept;

 private:
  struct Slot {
    std::uint64_t on_cpu_ns = 0;
    std::uint64_t waited_ns = 0;
    std::uint64_t asked_at = 0;  // number of the interval
    bool was_off = false;        // it did not run in the interval before
  };
  struct Held {
    trace::Nanoseconds begin = 0;
    trace::Nanoseconds end = 0;
    std::array<std::uint32_t, kMaxFollowed> ran{};
    std::array<std::uint32_t, kMaxFollowed> waited{};
  };
  Held& held(std::uint64_t number) noexcept { return held_[number % kHeldIntervals]; }
  const Held& held(std::uint64_t number) const noexcept { return held_[number % kHeldIntervals]; }
  std::uint64_t first() const noexcept { return taken_; }

  std::array<Slot, kMaxFollowed> slots_{};
  std::array<Held, kHeldIntervals> held_{};
  std::uint64_t begun_ = 0;  // intervals; the last one is number begun_ - 1
  std::uint64_t taken_ = 0;
  trace::Nanoseconds last_ = 0;
};

// Joins neighbours of which one kind of thing is to be said: small files for threads that run, or sleep, all
// the time.
class IntervalMerger {
 public:
  // The joined interval that ends where this one begins, if this one is not part of it.
  std::optional<RunInterval> add(const RunInterval& interval) noexcept;
  std::optional<RunInterval> finish() noexcept;

 private:
  std::optional<RunInterval> joined_;
};

}  // namespace lockstep::tracer::scheduling
