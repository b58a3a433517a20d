// new and delete of the `lockstep` program: as the standard library's, but that large blocks may lie in a
// file (memory_limit.h).
#include <cstdlib>
#include <new>

#include "cli/memory_limit/large_blocks.h"
#include "cli/memory_limit/memory_limit.h"

namespace {

using lockstep::cli::large_blocks;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes >= lockstep::cli::kLargeBlock && large_blocks.space.is_open() &&
      alignment <= lockstep::cli::SpillSpace::kAlignment) [[unlikely]]
    return large_blocks.space.allocate(bytes);
  if (bytes == 0) bytes = 1;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return std::malloc(bytes);
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
  std::free(block);
}

constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads): all of them are here
void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes, kDefault);
}
void* operator new[](std::size_t bytes) {
  return allocate_or_throw(bytes, kDefault);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*nothrow*/) noexcept {
  return allocate(bytes, kDefault);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*nothrow*/) noexcept {
  return allocate(bytes, kDefault);
}
void* operator new(std::size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t& /*nothrow*/) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t& /*nothrow*/) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
  give_back(block);
}
void operator delete[](void* block) noexcept {
  give_back(block);
}
void operator delete(void* block, std::size_t /*bytes*/) noexcept {
  give_back(block);
}
void operator delete[](void* block, std::size_t /*bytes*/) noexcept {
  give_back(block);
}
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept {
  give_back(block);
}
void operator delete[](void* block, std::align_val_t /*alignment*/) noexcept {
  give_back(block);
}
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  give_back(block);
}
void operator delete[](void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  give_back(block);
}
void operator delete(void* block, const std::nothrow_t& /*nothrow*/) noexcept {
  give_back(block);
}
void operator delete[](void* block, const std::nothrow_t& /*nothrow*/) noexcept {
  give_back(block);
}
// NOLINTEND(misc-new-delete-overloads)
