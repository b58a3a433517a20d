// Which threads of this process train and which communicate, as the writer thread learns it from what they
// record, and which run Python, as the start-up hook tells it: whose time on a core is worth following
// (sources/scheduling).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep::tracer {

// Threads beyond this many are not remembered.
inline constexpr std::size_t kMaxKnownThreads = 64;
inline constexpr std::size_t kMaxPythonThreads = 256;

// The thread declares steps, runs the training loop, or computes.
void note_training_thread(std::uint32_t thread) noexcept;
// The thread carries out collectives. One that trains as well counts as training.
void note_communication_thread(std::uint32_t thread) noexcept;
// The threads that run Python now, in place of those told before. By one thread at a time; who asks meanwhile
// may miss one.
void set_python_threads(std::span<const std::uint32_t> threads) noexcept;

bool is_training_thread(std::uint32_t thread) noexcept;
bool is_communication_thread(std::uint32_t thread) noexcept;
bool is_python_thread(std::uint32_t thread) noexcept;
// Of training threads, the n-th in the order of their discovery; 0 behind the last one.
std::uint32_t training_thread(std::size_t n) noexcept;

// In a forked child, which has none of them.
void forget_training_threads() noexcept;

}  // namespace lockstep::tracer
