#include "tracer/inject/ring/ring.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tracer/inject/ring/wake.h"

namespace lockstep::tracer {

namespace {
// A record's size stands in 16 bits, in units of 16 bytes.
constexpr std::uint64_t kLargestRecord =
    std::uint64_t{std::numeric_limits<std::uint16_t>::max()} * kRecordUnit;
}  // namespace

void Ring::attach(std::byte* buffer, std::uint64_t capacity, DomainStack* stacks,
                  std::atomic<std::uint32_t>* wake) noexcept {
  buffer_ = buffer;
  mask_ = capacity - 1;
  stacks_ = stacks;
  slack_ = capacity / 16;
  wake_ = wake;
  // Positions begin a lap above zero, so that limit_ (which may lie a lap below the tail) never wraps.
  head_.store(capacity, std::memory_order_relaxed);
  tail_.store(capacity, std::memory_order_relaxed);
  base_.store(capacity, std::memory_order_relaxed);
  limit_.store(capacity, std::memory_order_relaxed);
  max_record_bytes_ = static_cast<std::uint32_t>(std::min(capacity / 8, kLargestRecord));
}

void Ring::recycle() noexcept {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  head_.store(tail, std::memory_order_relaxed);
  base_.store(tail, std::memory_order_relaxed);
  limit_.store(tail, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kMaxDomains; ++i) {
    stacks_[i].depth.store(0, std::memory_order_relaxed);
    stacks_[i].dropped_beyond.store(0, std::memory_order_relaxed);
    stacks_[i].dropped.store(0, std::memory_order_relaxed);
  }
}

std::byte* Ring::claim_slowly(std::uint32_t bytes, std::uint32_t later, bool use_slack) noexcept {
  const std::uint64_t capacity = mask_ + 1;
  const std::uint64_t tail = tail_.load(std::memory_order_acquire);
  const std::uint64_t reserved =
      base_.load(std::memory_order_relaxed) - limit_.load(std::memory_order_relaxed);
  std::uint64_t head = head_.load(std::memory_order_relaxed);
  // A unit-sized record, such as a pop, never needs padding: every position is a multiple of the unit.
  const std::uint64_t left_in_lap = capacity - (head & mask_);
  const std::uint64_t padding = bytes > left_in_lap ? left_in_lap : 0;
  const std::uint64_t usable_end = tail + capacity - (use_slack ? 0 : slack_);
  if (head + padding + bytes + later + reserved > usable_end) {
    wake(*wake_);
    return nullptr;
  }
  // A lap's end may be further away than one padding record can say.
  for (std::uint64_t filled = 0; filled < padding;) {
    const std::uint64_t part = std::min(padding - filled, kLargestRecord);
    RecordHeader header;
    header.units = static_cast<std::uint16_t>(part / kRecordUnit);
    std::memcpy(buffer_ + ((head + filled) & mask_), &header, sizeof header);
    filled += part;
  }
  if (padding != 0) {
    head += padding;
    head_.store(head, std::memory_order_release);
  }
  const std::uint64_t used = head + bytes - tail;
  const std::uint64_t half = capacity / 2;
  if (used >= half) wake(*wake_);
  const std::uint64_t lap_end = (head & ~mask_) + capacity;
  const std::uint64_t next_look = used < half ? tail + half : tail + capacity - slack_;
  const std::uint64_t base = std::min(lap_end, next_look);
  base_.store(base, std::memory_order_relaxed);
  limit_.store(base - reserved, std::memory_order_relaxed);
  return buffer_ + (head & mask_);
}

}  // namespace lockstep::tracer
