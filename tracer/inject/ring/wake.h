// Waking the writer thread: a futex word, since a condition variable needs a lock that a signal handler must
// not take.
#pragma once

#include <atomic>
#include <cstdint>

namespace lockstep::tracer {

// Sets the word and wakes whoever waits on it, unless it was set already. Async-signal-safe; leaves errno
// alone.
void wake(std::atomic<std::uint32_t>& word) noexcept;
// Waits until the word is set or the time is over, and clears it.
void wait_and_clear(std::atomic<std::uint32_t>& word, std::uint32_t milliseconds) noexcept;
// Waits until the word is `value` or the time is over. True if it is.
bool wait_until(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint32_t milliseconds) noexcept;
// Sets the word to `value` and wakes all who wait on it.
void set_and_wake_all(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;

// A lock that may be released by another thread than the one that took it, and given up waiting for.
class PlainLock {
 public:
  // False if the time is over before the lock is free.
  bool acquire(std::uint32_t milliseconds) noexcept;
  void acquire() noexcept;
  void release() noexcept;
  // In a forked child, whose parent's threads may have held it.
  void reset() noexcept { word_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace lockstep::tracer
