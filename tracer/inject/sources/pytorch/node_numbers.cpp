#include "tracer/inject/sources/pytorch/node_numbers.h"

#include <algorithm>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define LOCKSTEP_READS_FOREIGN_STACK __attribute__((no_sanitize_address))
#else
#define LOCKSTEP_READS_FOREIGN_STACK
#endif

namespace lockstep::tracer::pytorch {

namespace {

LOCKSTEP_READS_FOREIGN_STACK std::uint64_t word_of(const void* function, std::size_t place) noexcept {
  return *(reinterpret_cast<const volatile std::uint64_t*>(function) + place);
}

}  // namespace

void NodeNumbers::look(const void* function, std::uint64_t next) noexcept {
  if (next < kTelling || looking_.test_and_set(std::memory_order_acquire)) return;
  if (next != last_ && place_.load(std::memory_order_relaxed) == kUnknown) {
    bool any = false;
    for (std::size_t place = 0; place < kWords; ++place) {
      if (word_of(function, place) != next) continue;
      any = true;
      ++found_[place];
    }
    if (any) last_ = next;
    const auto best = std::max_element(found_.begin(), found_.end());
    const auto as_good =
        std::count_if(found_.begin(), found_.end(), [&](std::uint8_t found) { return 2 * found > *best; });
    if (*best >= kProofs) {
      if (as_good == 1)
        place_.store(static_cast<std::size_t>(best - found_.begin()), std::memory_order_relaxed);
      found_.fill(0);
    }
  }
  looking_.clear(std::memory_order_release);
}

std::optional<std::uint64_t> NodeNumbers::of(const void* function) const noexcept {
  const std::size_t place = place_.load(std::memory_order_relaxed);
  if (place == kUnknown) return std::nullopt;
  return word_of(function, place);
}

}  // namespace lockstep::tracer::pytorch
