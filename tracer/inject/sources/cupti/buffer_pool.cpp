#include "tracer/inject/sources/cupti/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace lockstep::tracer::cupti {

namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

bool BufferPool::reserve(std::uint64_t budget) noexcept {
  if (memory_ != nullptr) return true;
  const std::uint64_t share = budget / kBuffers / kPage * kPage;
  buffer_bytes_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(share, kSmallest, kLargest));
  buffers_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(budget / buffer_bytes_, 1, kBuffers));
  const int saved = errno;
  void* const memory = mmap(nullptr, buffers_ * buffer_bytes_ + kReserves * kReserveBytes,
                            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  errno = saved;
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::uint8_t*>(memory);
  return true;
}

std::uint8_t* BufferPool::address(std::size_t slot) const noexcept {
  return slot < kBuffers ? memory_ + slot * buffer_bytes_
                         : memory_ + buffers_ * buffer_bytes_ + (slot - kBuffers) * kReserveBytes;
}

std::size_t BufferPool::bytes_of(std::size_t slot) const noexcept {
  return slot < kBuffers ? buffer_bytes_ : kReserveBytes;
}

std::size_t BufferPool::slot_of(const std::uint8_t* data) const noexcept {
  constexpr std::size_t kNone = kBuffers + kReserves;
  if (memory_ == nullptr || data < memory_) return kNone;
  const auto offset = static_cast<std::size_t>(data - memory_);
  const std::size_t regular = buffers_ * buffer_bytes_;
  const std::size_t slot =
      offset < regular ? offset / buffer_bytes_ : kBuffers + (offset - regular) / kReserveBytes;
  return slot < kNone && address(slot) == data ? slot : kNone;
}

BufferPool::Lent BufferPool::take(std::size_t slot, State expected, std::uint32_t generation) noexcept {
  if (slots_[slot].state.load(std::memory_order_relaxed) != expected) return {};
  if (!slots_[slot].state.compare_exchange_strong(expected, State::lent, std::memory_order_acq_rel))
    return {};
  slots_[slot].generation.store(generation, std::memory_order_relaxed);
  return {address(slot), bytes_of(slot)};
}

BufferPool::Lent BufferPool::lend(std::uint32_t generation) noexcept {
  // Those with memory first: the others cost their first user page faults.
  for (const State wanted : {State::ready, State::untouched}) {
    for (std::size_t slot = 0; slot < buffers_; ++slot) {
      if (const Lent lent = take(slot, wanted, generation)) return lent;
    }
  }
  return {};
}

BufferPool::Lent BufferPool::lend_reserve(std::uint32_t generation) noexcept {
  if (memory_ == nullptr) return {};
  for (const State wanted : {State::ready, State::untouched}) {
    for (std::size_t slot = kBuffers; slot < slots_.size(); ++slot) {
      if (const Lent lent = take(slot, wanted, generation)) return lent;
    }
  }
  return {};
}

bool BufferPool::bring_back(const std::uint8_t* data, std::size_t valid_bytes) noexcept {
  const std::size_t index = slot_of(data);
  if (index >= slots_.size()) return false;
  Slot& slot = slots_[index];
  State expected = State::lent;
  if (!slot.state.compare_exchange_strong(expected, State::returning, std::memory_order_acq_rel)) {
    return true;  // ours, but not lent: brought back twice, or reclaimed
  }
  if (valid_bytes == 0) {
    slot.state.store(State::ready, std::memory_order_release);
    return true;
  }
  slot.valid_bytes.store(std::min(valid_bytes, bytes_of(index)), std::memory_order_relaxed);
  slot.order.store(order_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
  full_.fetch_add(1, std::memory_order_relaxed);
  slot.state.store(State::full, std::memory_order_release);
  return true;
}

std::optional<BufferPool::Full> BufferPool::take_full() noexcept {
  while (true) {
    std::size_t oldest = slots_.size();
    std::uint64_t order = 0;
    for (std::size_t index = 0; index < slots_.size(); ++index) {
      if (slots_[index].state.load(std::memory_order_acquire) != State::full) continue;
      const std::uint64_t its = slots_[index].order.load(std::memory_order_relaxed);
      if (oldest == slots_.size() || its < order) {
        oldest = index;
        order = its;
      }
    }
    if (oldest == slots_.size()) return std::nullopt;
    State expected = State::full;
    Slot& slot = slots_[oldest];
    if (!slot.state.compare_exchange_strong(expected, State::reading, std::memory_order_acq_rel)) continue;
    full_.fetch_sub(1, std::memory_order_relaxed);
    return Full{oldest, address(oldest), slot.valid_bytes.load(std::memory_order_relaxed), bytes_of(oldest),
                slot.generation.load(std::memory_order_relaxed)};
  }
}

void BufferPool::give_back(const Full& full) noexcept {
  slots_[full.slot].state.store(State::ready, std::memory_order_release);
}

BufferPool::Lent BufferPool::lend_again(const Full& full, std::uint32_t generation) noexcept {
  slots_[full.slot].generation.store(generation, std::memory_order_relaxed);
  slots_[full.slot].state.store(State::lent, std::memory_order_release);
  return {full.data, full.bytes};
}

void BufferPool::prepare_spares() noexcept {
  std::size_t ready = 0;
  for (std::size_t index = 0; index < buffers_; ++index) {
    if (slots_[index].state.load(std::memory_order_relaxed) == State::ready) ++ready;
  }
  for (std::size_t index = 0; index < buffers_ && ready < kSpares; ++index) {
    State expected = State::untouched;
    if (!slots_[index].state.compare_exchange_strong(expected, State::preparing)) continue;
    volatile std::uint8_t* const data = address(index);
    for (std::size_t byte = 0; byte < buffer_bytes_; byte += kPage) data[byte] = 0;
    slots_[index].state.store(State::ready, std::memory_order_release);
    ++ready;
  }
}

std::size_t BufferPool::reclaim_before(std::uint32_t generation) noexcept {
  std::size_t reclaimed = 0;
  for (Slot& slot : slots_) {
    if (slot.state.load(std::memory_order_acquire) != State::lent) continue;
    if (slot.generation.load(std::memory_order_relaxed) >= generation) continue;
    State expected = State::lent;
    if (slot.state.compare_exchange_strong(expected, State::ready)) ++reclaimed;
  }
  return reclaimed;
}

std::size_t BufferPool::lent_count() const noexcept {
  return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.state.load(std::memory_order_relaxed) == State::lent;
  }));
}

}  // namespace lockstep::tracer::cupti
