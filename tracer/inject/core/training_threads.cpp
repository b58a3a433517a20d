#include "tracer/inject/core/training_threads.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace lockstep::tracer {

namespace {

// Filled from the front by the writer thread (Python's by the hook), read by others. Kernel numbers of
// threads; 0: none.
template <std::size_t count>
using Numbers = std::array<std::atomic<std::uint32_t>, count>;
using Threads = Numbers<kMaxKnownThreads>;
constinit Threads training{};
constinit Threads communication{};
constinit Numbers<kMaxPythonThreads> python{};

template <std::size_t count>
bool contains(const Numbers<count>& threads, std::uint32_t thread) noexcept {
  for (const std::atomic<std::uint32_t>& entry : threads) {
    const std::uint32_t known = entry.load(std::memory_order_acquire);
    if (known == thread) return thread != 0;
    if (known == 0) return false;
  }
  return false;
}

void add(Threads& threads, std::uint32_t thread) noexcept {
  for (std::atomic<std::uint32_t>& entry : threads) {
    std::uint32_t known = entry.load(std::memory_order_relaxed);
    if (known == thread) return;
    if (known == 0 && entry.compare_exchange_strong(known, thread, std::memory_order_release)) return;
  }
}

}  // namespace

void note_training_thread(std::uint32_t thread) noexcept {
  add(training, thread);
}

void note_communication_thread(std::uint32_t thread) noexcept {
  add(communication, thread);
}

void set_python_threads(std::span<const std::uint32_t> threads) noexcept {
  const std::size_t count = std::min(threads.size(), python.size());
  for (std::size_t n = 0; n < count; ++n) python[n].store(threads[n], std::memory_order_release);
  for (std::size_t n = count; n < python.size(); ++n) python[n].store(0, std::memory_order_release);
}

bool is_training_thread(std::uint32_t thread) noexcept {
  return contains(training, thread);
}

bool is_communication_thread(std::uint32_t thread) noexcept {
  return contains(communication, thread);
}

bool is_python_thread(std::uint32_t thread) noexcept {
  return contains(python, thread);
}

std::uint32_t training_thread(std::size_t n) noexcept {
  return n < training.size() ? training[n].load(std::memory_order_acquire) : 0;
}

void forget_training_threads() noexcept {
  for (std::atomic<std::uint32_t>& entry : training) entry.store(0, std::memory_order_relaxed);
  for (std::atomic<std::uint32_t>& entry : communication) entry.store(0, std::memory_order_relaxed);
  set_python_threads({});
}

}  // namespace lockstep::tracer
