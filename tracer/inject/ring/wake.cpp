#include "tracer/inject/ring/wake.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "tracer/protocol/clock.h"

namespace lockstep::tracer {

namespace {

void futex_wake(std::atomic<std::uint32_t>& word, int waiters) noexcept {
  const int saved = errno;
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, waiters, nullptr, nullptr,
          0);
  errno = saved;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::uint64_t nanoseconds) noexcept {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000U);
  timeout.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000U);
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr,
          0);
}

}  // namespace

void wake(std::atomic<std::uint32_t>& word) noexcept {
  if (word.load(std::memory_order_relaxed) == 0 && word.exchange(1, std::memory_order_acq_rel) == 0) {
    futex_wake(word, 1);
  }
}

void wait_and_clear(std::atomic<std::uint32_t>& word, std::uint32_t milliseconds) noexcept {
  const std::uint64_t deadline = read_monotonic() + std::uint64_t{milliseconds} * 1'000'000U;
  while (word.load(std::memory_order_acquire) == 0) {
    const std::uint64_t now = read_monotonic();
    if (now >= deadline) break;
    futex_wait(word, 0, deadline - now);
  }
  word.store(0, std::memory_order_release);
}

bool wait_until(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint32_t milliseconds) noexcept {
  const std::uint64_t deadline = read_monotonic() + std::uint64_t{milliseconds} * 1'000'000U;
  while (true) {
    const std::uint32_t now_value = word.load(std::memory_order_acquire);
    if (now_value == value) return true;
    const std::uint64_t now = read_monotonic();
    if (now >= deadline) return false;
    futex_wait(word, now_value, deadline - now);
  }
}

void set_and_wake_all(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  word.store(value, std::memory_order_release);
  futex_wake(word, std::numeric_limits<int>::max());
}

bool PlainLock::acquire(std::uint32_t milliseconds) noexcept {
  const std::uint64_t deadline = read_monotonic() + std::uint64_t{milliseconds} * 1'000'000U;
  while (true) {
    std::uint32_t expected = 0;
    if (word_.compare_exchange_strong(expected, 1, std::memory_order_acquire)) return true;
    const std::uint64_t now = read_monotonic();
    if (now >= deadline) return false;
    futex_wait(word_, 1, deadline - now);
  }
}

void PlainLock::acquire() noexcept {
  constexpr std::uint32_t kSecond = 1000;
  while (!acquire(kSecond)) {
  }
}

void PlainLock::release() noexcept {
  word_.store(0, std::memory_order_release);
  futex_wake(word_, 1);
}

}  // namespace lockstep::tracer
