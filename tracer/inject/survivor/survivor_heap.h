// Memory for a survivor (survivor.h): a thread that was killed may have held a lock of malloc's, and nobody
// will ever release it.
#pragma once

#include <atomic>
#include <cstddef>

namespace lockstep::tracer {

// Set in the survivor alone, where one thread is left: from then on the library's new (allocation.cpp) takes
// memory from here, and its delete does nothing. What is taken is gone with the process.
extern std::atomic<bool> survivor_heap_in_use;

// Aligned to `alignment`, a power of two up to a page. nullptr: the system has none.
void* take_from_survivor_heap(std::size_t bytes, std::size_t alignment) noexcept;

}  // namespace lockstep::tracer
