#include "tracer/inject/sources/scheduling/run_profile.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lockstep::tracer::scheduling {

namespace {

constexpr trace::Nanoseconds kLongestBusy = 250'000'000;
constexpr trace::Nanoseconds kLongestIdle = 1'000'000'000;

std::uint64_t length(trace::Nanoseconds begin, trace::Nanoseconds end) {
  return static_cast<std::uint64_t>(end - begin);
}

std::uint32_t small(std::uint64_t ns) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(ns, std::numeric_limits<std::uint32_t>::max()));
}

enum class Kind : std::uint8_t { idle, busy, mixed };

Kind kind_of(const RunInterval& interval) {
  if (interval.on_cpu_ns == 0 && interval.runnable_ns == 0) return Kind::idle;
  const std::uint64_t ns = length(interval.begin, interval.end);
  return interval.on_cpu_ns >= ns - ns / 10 && interval.runnable_ns <= ns / 50 ? Kind::busy : Kind::mixed;
}

}  // namespace

void RunProfile::follow(std::size_t slot, std::uint64_t on_cpu_ns, std::uint64_t waited_ns,
                        std::optional<trace::Nanoseconds> born_after) noexcept {
  for (Held& one : held_) one.ran[slot] = one.waited[slot] = 0;
  slots_[slot] = {on_cpu_ns, waited_ns, begun_, false};
  if (!born_after.has_value()) return;
  // Nobody saw when in these intervals it ran: evenly.
  std::uint64_t count = 0;
  for (std::uint64_t n = first(); n < begun_; ++n) count += held(n).end > *born_after ? 1 : 0;
  for (std::uint64_t n = first(); n < begun_ && count > 0; ++n) {
    if (held(n).end <= *born_after) continue;
    const std::uint64_t room = length(held(n).begin, held(n).end);
    held(n).ran[slot] = small(std::min(room, on_cpu_ns / count));
  }
}

bool RunProfile::begin_interval(trace::Nanoseconds time) noexcept {
  if (time <= last_) return false;
  // take() keeps room; where nobody took, the oldest is written over.
  if (begun_ - taken_ == kHeldIntervals) ++taken_;
  Held& one = held(begun_);
  one = {};
  one.begin = std::exchange(last_, time);
  one.end = time;
  ++begun_;
  return true;
}

bool RunProfile::ran(std::size_t slot, std::uint64_t on_cpu_ns) noexcept {
  Slot& thread = slots_[slot];
  Held& now = held(begun_ - 1);
  if (on_cpu_ns > thread.on_cpu_ns) now.ran[slot] = small(on_cpu_ns - thread.on_cpu_ns);
  thread.on_cpu_ns = std::max(thread.on_cpu_ns, on_cpu_ns);
  if (now.ran[slot] == 0) thread.was_off = true;
  return now.ran[slot] != 0;
}

bool RunProfile::should_ask(std::size_t slot) const noexcept {
  const Slot& thread = slots_[slot];
  const Held& now = held(begun_ - 1);
  if (now.ran[slot] == 0) return false;  // the kernel has nothing new to tell
  const std::uint64_t ns = length(now.begin, now.end);
  return thread.was_off || now.ran[slot] < ns - ns / 20;
}

void RunProfile::waited(std::size_t slot, std::uint64_t waited_ns) noexcept {
  Slot& thread = slots_[slot];
  thread.was_off = false;
  const std::uint64_t since = std::exchange(thread.asked_at, begun_);
  std::uint64_t left = waited_ns > thread.waited_ns ? waited_ns - thread.waited_ns : 0;
  thread.waited_ns = std::max(thread.waited_ns, waited_ns);
  // Oldest first: what it waits for now is told later. It may have begun in the interval that was asked for
  // last.
  const std::uint64_t oldest = std::max(first(), std::max<std::uint64_t>(since, 1) - 1);
  for (std::uint64_t n = oldest; n < begun_ && left > 0; ++n) {
    Held& one = held(n);
    const std::uint64_t taken = std::uint64_t{one.ran[slot]} + one.waited[slot];
    const std::uint64_t ns = length(one.begin, one.end);
    const std::uint64_t part = std::min(left, ns > taken ? ns - taken : 0);
    one.waited[slot] = small(one.waited[slot] + part);
    left -= part;
  }
}

std::optional<RunInterval> RunProfile::take(bool all) noexcept {
  if (taken_ == begun_ || (!all && begun_ - taken_ < kHeldIntervals - 1)) return std::nullopt;
  const Held& oldest = held(taken_++);
  RunInterval interval{oldest.begin, oldest.end, 0, 0, 0};
  for (std::size_t slot = 0; slot < kMaxFollowed; ++slot) {
    interval.on_cpu_ns += oldest.ran[slot];
    interval.runnable_ns += oldest.waited[slot];
    interval.waited_ns = std::max<std::uint64_t>(interval.waited_ns, oldest.waited[slot]);
  }
  return interval;
}

std::optional<RunInterval> IntervalMerger::add(const RunInterval& interval) noexcept {
  if (joined_.has_value() && joined_->end == interval.begin) {
    const Kind kind = kind_of(interval);
    const trace::Nanoseconds longest = kind == Kind::idle   ? kLongestIdle
                                       : kind == Kind::busy ? kLongestBusy
                                                            : 0;
    if (kind == kind_of(*joined_) && interval.end - joined_->begin <= longest) {
      joined_->end = interval.end;
      joined_->on_cpu_ns += interval.on_cpu_ns;
      joined_->runnable_ns += interval.runnable_ns;
      joined_->waited_ns += interval.waited_ns;
      return std::nullopt;
    }
  }
  return std::exchange(joined_, interval);
}

std::optional<RunInterval> IntervalMerger::finish() noexcept {
  return std::exchange(joined_, std::nullopt);
}

}  // namespace lockstep::tracer::scheduling
