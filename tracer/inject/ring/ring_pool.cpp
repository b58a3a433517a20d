#include "tracer/inject/ring/ring_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "tracer/inject/ring/wake.h"

namespace lockstep::tracer {

namespace {

constexpr std::uint64_t kSmallestRing = std::uint64_t{16} << 10U;
constexpr std::uint64_t kSmallestLargeRing = std::uint64_t{64} << 10U;
constexpr std::uint64_t kLargestRing = std::uint64_t{16} << 20U;
constexpr std::uint64_t kRingsInBudget = 64;
constexpr std::size_t kStackBytes = sizeof(DomainStack) * Ring::kMaxDomains;
// Every thread counts its range ids in a space of its own.
constexpr unsigned kRangeIdBits = 40;
constexpr std::uint64_t kRangeIdSpaces = std::uint64_t{1} << 23U;  // the highest bit says "dropped"

}  // namespace

void RingPool::set_budget(std::uint64_t bytes) noexcept {
  large_bytes_ = std::clamp(std::bit_floor(std::max<std::uint64_t>(bytes / kRingsInBudget, 1)),
                            kSmallestLargeRing, kLargestRing);
  budget_ = std::max(bytes, 2 * large_bytes_);
}

RingSlot* RingPool::take_ready() noexcept {
  // A thread without a ring comes here at each of its events.
  if (!maybe_ready_.load(std::memory_order_acquire)) return nullptr;
  const std::size_t count = slot_count();
  for (std::size_t i = 0; i < count; ++i) {
    SlotState expected = SlotState::ready;
    if (slots_[i].state.load(std::memory_order_relaxed) == SlotState::ready &&
        slots_[i].state.compare_exchange_strong(expected, SlotState::claimed, std::memory_order_acq_rel)) {
      return &slots_[i];
    }
  }
  maybe_ready_.store(false, std::memory_order_relaxed);
  return nullptr;
}

RingSlot* RingPool::allocate(bool populate, std::atomic<std::uint32_t>* wake) noexcept {
  if (exhausted_.load(std::memory_order_relaxed)) return nullptr;
  std::uint64_t before = allocated_.load(std::memory_order_relaxed);
  std::uint64_t bytes = 0;
  do {
    bytes = before < budget_ / 2 ? large_bytes_ : std::max(large_bytes_ / 8, kSmallestRing);
    if (before + bytes > budget_) {
      exhausted_.store(true, std::memory_order_relaxed);
      return nullptr;
    }
  } while (!allocated_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));

  const std::size_t index = used_slots_.fetch_add(1, std::memory_order_acq_rel);
  if (index >= kSlots) {
    used_slots_.store(kSlots, std::memory_order_release);
    exhausted_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  RingSlot& slot = slots_[index];
  slot.state.store(SlotState::claimed, std::memory_order_relaxed);
  const int saved = errno;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (populate ? MAP_POPULATE : 0);
  void* memory = mmap(nullptr, kStackBytes + bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) {
    errno = saved;
    slot.state.store(SlotState::broken, std::memory_order_relaxed);
    exhausted_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  // A forked child starts with empty rings, and the parent's pages don't become copy-on-write.
  madvise(memory, kStackBytes + bytes, MADV_WIPEONFORK);
  errno = saved;
  // Anonymous memory is zeroed, which is what an unused DomainStack is.
  slot.ring.attach(static_cast<std::byte*>(memory) + kStackBytes, bytes, static_cast<DomainStack*>(memory),
                   wake);
  return &slot;
}

Ring* RingPool::acquire(std::uint32_t thread, std::atomic<std::uint32_t>* wake) noexcept {
  RingSlot* slot = take_ready();
  if (slot == nullptr) {
    // The writer prepares spare rings and takes back those of threads that ended: it is asked to do so now.
    lockstep::tracer::wake(*wake);
    slot = allocate(false, wake);
  }
  if (slot == nullptr) {
    unbuffered_drops_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  const std::uint64_t taken = taken_.fetch_add(1, std::memory_order_relaxed) + 1;
  slot->ring.begin((taken % kRangeIdSpaces) << kRangeIdBits);
  slot->thread.store(thread, std::memory_order_relaxed);
  slot->taken.store(taken, std::memory_order_relaxed);
  slot->state.store(SlotState::in_use, std::memory_order_release);
  return &slot->ring;
}

void RingPool::prepare_spare(std::atomic<std::uint32_t>* wake) noexcept {
  const std::size_t count = slot_count();
  for (std::size_t i = 0; i < count; ++i) {
    if (slots_[i].state.load(std::memory_order_relaxed) == SlotState::ready) return;
  }
  RingSlot* slot = allocate(true, wake);
  if (slot == nullptr) return;
  slot->state.store(SlotState::ready, std::memory_order_release);
  maybe_ready_.store(true, std::memory_order_release);
}

void RingPool::recycle(RingSlot& slot) noexcept {
  slot.state.store(SlotState::claimed, std::memory_order_relaxed);
  slot.ring.recycle();
  slot.state.store(SlotState::ready, std::memory_order_release);
  maybe_ready_.store(true, std::memory_order_release);
}

void RingPool::reset_after_fork() noexcept {
  const std::size_t count = slot_count();
  for (std::size_t i = 0; i < count; ++i) {
    RingSlot& slot = slots_[i];
    const SlotState state = slot.state.load(std::memory_order_relaxed);
    if (state == SlotState::in_use || state == SlotState::ready) {
      recycle(slot);
    } else {
      slot.state.store(SlotState::broken, std::memory_order_relaxed);
    }
  }
  unbuffered_drops_.store(0, std::memory_order_relaxed);
}

}  // namespace lockstep::tracer
