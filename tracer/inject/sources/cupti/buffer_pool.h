// The buffers that CUPTI fills with records: a fixed number in one stretch of memory, handed out and taken
// back without a lock or a system call.
//
// CUPTI holds one buffer per thread that makes CUDA calls, for as long as kernels of it run. A buffer goes
// ready → lent (to CUPTI) → full → reading (the writer thread) → ready. Any thread may ask for one or bring
// one back; one thread reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace lockstep::tracer::cupti {

class BufferPool {
 public:
  static constexpr std::uint64_t kDefaultBudget = std::uint64_t{32} << 20U;
  // 64 buffers: a training process has a handful of threads that call CUDA. At 32 MiB a buffer is 512 KiB,
  // some 2000 launches with their kernels. Small ones are passed on sooner (one with an unfinished kernel is
  // not passed on at all, and a busy GPU always has one), large ones are asked for less often.
  static constexpr std::size_t kBuffers = 64;
  static constexpr std::size_t kSmallest = std::size_t{64} << 10U;
  static constexpr std::size_t kLargest = std::size_t{4} << 20U;
  // Beyond the budget, for a CUPTI that can't stand being turned down: small ones.
  static constexpr std::size_t kReserves = 256;
  static constexpr std::size_t kReserveBytes = std::size_t{64} << 10U;

  // Reserves addresses for `budget` bytes of buffers (memory is taken as they are used). False if there are
  // none. Once.
  bool reserve(std::uint64_t budget) noexcept;
  std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }

  struct Lent {
    std::uint8_t* data = nullptr;
    std::size_t bytes = 0;
    explicit operator bool() const noexcept { return data != nullptr; }
  };
  // Nothing if all are in use.
  Lent lend(std::uint32_t generation) noexcept;
  Lent lend_reserve(std::uint32_t generation) noexcept;

  struct Full {
    std::size_t slot = 0;
    std::uint8_t* data = nullptr;
    std::size_t valid_bytes = 0;
    std::size_t bytes = 0;
    std::uint32_t generation = 0;  // in which it was lent
  };
  // A buffer comes back; one without records is ready at once. False if it is none of ours.
  bool bring_back(const std::uint8_t* data, std::size_t valid_bytes) noexcept;
  // The full buffer that came back first.
  std::optional<Full> take_full() noexcept;
  void give_back(const Full& full) noexcept;  // to be lent again
  // The same buffer goes back to CUPTI unread: what was in it must be counted first.
  Lent lend_again(const Full& full, std::uint32_t generation) noexcept;

  // Touches the pages of a few buffers ahead of their use, so that no application thread meets page faults.
  void prepare_spares() noexcept;
  // Buffers that were lent before `generation` went to somebody else and won't come back.
  std::size_t reclaim_before(std::uint32_t generation) noexcept;

  std::size_t full_count() const noexcept { return full_.load(std::memory_order_relaxed); }
  std::size_t lent_count() const noexcept;

 private:
  enum class State : std::uint32_t { untouched, preparing, ready, lent, returning, full, reading };
  struct Slot {
    std::atomic<State> state{State::untouched};
    std::atomic<std::uint32_t> generation{0};
    std::atomic<std::uint64_t> order{0};  // among the full ones
    std::atomic<std::size_t> valid_bytes{0};
  };
  static constexpr std::size_t kSpares = 4;

  Lent take(std::size_t slot, State expected, std::uint32_t generation) noexcept;
  std::uint8_t* address(std::size_t slot) const noexcept;
  std::size_t bytes_of(std::size_t slot) const noexcept;
  std::size_t slot_of(const std::uint8_t* data) const noexcept;  // kBuffers + kReserves: none

  std::array<Slot, kBuffers + kReserves> slots_{};
  std::uint8_t* memory_ = nullptr;
  std::size_t buffers_ = 0;
  std::size_t buffer_bytes_ = 0;
  std::atomic<std::uint64_t> order_{0};
  std::atomic<std::size_t> full_{0};
};

}  // namespace lockstep::tracer::cupti
