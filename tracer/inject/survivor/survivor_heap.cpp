#include "tracer/inject/survivor/survivor_heap.h"

#include <sys/mman.h>

#include <cstdint>

namespace lockstep::tracer {

std::atomic<bool> survivor_heap_in_use{false};

namespace {

constexpr std::size_t kPart = std::size_t{16} << 20U;

// Of the one thread that there is.
std::uintptr_t next = 0, end = 0;

}  // namespace

void* take_from_survivor_heap(std::size_t bytes, std::size_t alignment) noexcept {
  std::uintptr_t begin = (next + alignment - 1) & ~(alignment - 1);
  if (begin + bytes > end || begin + bytes < begin) {
    const std::size_t size = bytes > kPart ? bytes : kPart;
    void* const part =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (part == MAP_FAILED) return nullptr;
    begin = reinterpret_cast<std::uintptr_t>(part);
    end = begin + size;
  }
  next = begin + bytes;
  return reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace lockstep::tracer
