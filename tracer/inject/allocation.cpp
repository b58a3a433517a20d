// new and delete of liblockstep-inject.so, hidden from the program: malloc's, but in a survivor
// (survivor_heap.h).
#include <cstdlib>
#include <new>

#include "tracer/inject/survivor/survivor_heap.h"

namespace {

using lockstep::tracer::survivor_heap_in_use;
using lockstep::tracer::take_from_survivor_heap;

constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes == 0) bytes = 1;
  if (survivor_heap_in_use.load(std::memory_order_relaxed)) [[unlikely]]
    return take_from_survivor_heap(bytes, alignment < kDefault ? kDefault : alignment);
  if (alignment <= kDefault) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const block = allocate(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void give_back(void* block) noexcept {
  if (!survivor_heap_in_use.load(std::memory_order_relaxed)) [[likely]]
    std::free(block);
}

}  // namespace

// The other forms are the standard library's, and call these.
// NOLINTBEGIN(misc-new-delete-overloads)
void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes, kDefault);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
// Theirs throws and catches: where there is no memory, not even for an exception, that would end the job.
void* operator new(std::size_t bytes, const std::nothrow_t& /*nothrow*/) noexcept {
  return allocate(bytes, kDefault);
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
