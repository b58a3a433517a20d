// A thread's Python stack, read in one piece: by the interpreter's own functions, which are found at run
// time, with its lock kept from the first frame to the last and its garbage collection off meanwhile. So the
// thread that is looked at cannot go on under the look, and no destructor of the program runs on the thread
// that looks. (Python code that walks `f_back` has neither: it gives the lock away between any two of its
// instructions, and what it allocates may set off a collection.)
#pragma once

#include <cstdint>

namespace lockstep::tracer::pytorch {

// A code object of Python and a line in it.
struct PythonPlace {
  void* code = nullptr;  // PyCodeObject*: a reference of the caller's own, release_stack() gives it back
  std::int64_t line = 0;
};

// All of these: by a thread that holds the interpreter's lock.

// The calling thread's PyThreadState, as which others may look at it for as long as it lives. Null: this
// interpreter lacks the functions (Python before 3.9).
void* own_thread_state() noexcept;

// The innermost `capacity` frames of a thread, the innermost first; how many there are. 0 where it is in no
// frame.
std::int32_t read_stack(void* thread_state, PythonPlace* places, std::int32_t capacity) noexcept;
void release_stack(const PythonPlace* places, std::int32_t count) noexcept;

}  // namespace lockstep::tracer::pytorch
