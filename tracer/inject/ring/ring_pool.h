// The rings of a process: bounded memory, handed to threads at their first event and taken back when they are
// gone.
//
// A thread's end is noticed by the writer thread, not by a thread-local destructor: those run in an order
// that nobody controls, and events may still come after ours. Taking a ring needs neither a lock nor malloc,
// so that the first event of a thread may come from a signal handler.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/inject/ring/ring.h"

namespace lockstep::tracer {

enum class SlotState : std::uint32_t {
  empty = 0,    // no memory yet
  claimed = 1,  // someone is preparing it
  ready = 2,    // has memory, waits for a thread
  in_use = 3,   // a thread writes to it
  broken = 4,   // its memory could not be had, or a fork caught it half prepared
};

struct RingSlot {
  std::atomic<SlotState> state{SlotState::empty};
  std::atomic<std::uint32_t> thread{0};  // kernel's thread id
  std::atomic<std::uint64_t> taken{0};   // how many rings of the process had been taken when this one was
  Ring ring;
};

class RingPool {
 public:
  static constexpr std::size_t kSlots = 1024;
  static constexpr std::uint64_t kDefaultBudget = std::uint64_t{64} << 20U;

  // Memory for all rings together. Half of it goes to large rings (1 MiB by default), the rest to small ones
  // (an eighth) for processes with very many threads.
  void set_budget(std::uint64_t bytes) noexcept;

  // A ring for the calling thread; nullptr if the budget is used up. `wake` is the writer's word.
  Ring* acquire(std::uint32_t thread, std::atomic<std::uint32_t>* wake) noexcept;
  // Makes sure that one ring waits with its pages already there, so that a new thread meets no page faults.
  void prepare_spare(std::atomic<std::uint32_t>* wake) noexcept;
  // Gives a drained ring of a thread that is gone back to the pool.
  void recycle(RingSlot& slot) noexcept;

  std::size_t slot_count() const noexcept { return used_slots_.load(std::memory_order_acquire); }
  RingSlot& slot(std::size_t index) noexcept { return slots_[index]; }
  // Events that found no ring since the process began.
  std::uint64_t unbuffered_drops() const noexcept {
    return unbuffered_drops_.load(std::memory_order_relaxed);
  }

  // In a forked child: all rings are free again, their threads don't exist here.
  void reset_after_fork() noexcept;

 private:
  RingSlot* allocate(bool populate, std::atomic<std::uint32_t>* wake) noexcept;
  RingSlot* take_ready() noexcept;

  std::array<RingSlot, kSlots> slots_{};
  std::atomic<std::size_t> used_slots_{0};
  std::atomic<std::uint64_t> allocated_{0};
  std::atomic<bool> exhausted_{false};
  std::atomic<bool> maybe_ready_{false};
  std::atomic<std::uint64_t> unbuffered_drops_{0};
  std::atomic<std::uint64_t> taken_{0};
  // Set by set_budget(): a pool that is all zeros takes no room in the library's file.
  std::uint64_t budget_ = 0;
  std::uint64_t large_bytes_ = 0;
};

}  // namespace lockstep::tracer
