// new and delete of the `lockstep` program: as the standard library's, but that large blocks may lie in a
// file (memory_limit.h).
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>

#include "cli/analysis/memory_limit/large_blocks.h"
#include "cli/analysis/memory_limit/memory_limit.h"

namespace {

using lockstep::cli::large_blocks;

// Where addresses are few (ulimit -v), malloc may have none before main begins, and no exception can be
// thrown either: the recorder has to get to where it can at least start its command (cli/record.cpp).
constexpr std::size_t kReserve = 8U << 10U;
alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) std::byte reserve[kReserve];
std::atomic<std::size_t> reserve_used{0};

bool is_of_reserve(const void* block) noexcept {
  const std::less<> before;
  return !before(block, reserve) && before(block, reserve + kReserve);
}

void* take_from_reserve(std::size_t bytes) noexcept {
  if (bytes > kReserve) return nullptr;
  bytes = (bytes + __STDCPP_DEFAULT_NEW_ALIGNMENT__ - 1) & ~(__STDCPP_DEFAULT_NEW_ALIGNMENT__ - 1);
  const std::size_t place = reserve_used.fetch_add(bytes, std::memory_order_relaxed);
  return place + bytes <= kReserve ? reserve + place : nullptr;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes >= lockstep::cli::kLargeBlock && large_blocks.space.is_open() &&
      alignment <= lockstep::cli::SpillSpace::kAlignment) [[unlikely]] {
    if (auto* const limited = lockstep::cli::pressure.load(std::memory_order_acquire); limited != nullptr)
      limited->before_allocating(bytes);
    return large_blocks.space.allocate(bytes);
  }
  if (bytes == 0) bytes = 1;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    void* const block = std::malloc(bytes);
    return block != nullptr ? block : take_from_reserve(bytes);
  }
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  for (;;) {
    if (void* const block = allocate(bytes, alignment); block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void give_back(void* block) noexcept {
  if (large_blocks.space.owns(block)) [[unlikely]]
    return large_blocks.space.give_back(block);
  if (is_of_reserve(block)) [[unlikely]]
    return;
  std::free(block);
}

constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

// The other forms are the standard library's, and call these. Those that do not throw would too, but not
// where a sanitizer brings its own.
// NOLINTBEGIN(misc-new-delete-overloads)
void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes, kDefault);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*nothrow*/) noexcept {
  return allocate(bytes, kDefault);
}
void* operator new(std::size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t& /*nothrow*/) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
  give_back(block);
}
void operator delete(void* block, std::size_t /*bytes*/) noexcept {
  give_back(block);
}
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept {
  give_back(block);
}
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  give_back(block);
}
// NOLINTEND(misc-new-delete-overloads)
