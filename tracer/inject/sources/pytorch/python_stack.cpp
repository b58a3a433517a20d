#include "tracer/inject/sources/pytorch/python_stack.h"

#include <dlfcn.h>

namespace lockstep::tracer::pytorch {
namespace {

// The interpreter's functions, by their C names; objects are opaque here.
struct Interpreter {
  void* (*thread_state)() = nullptr;          // borrowed
  void* (*frame_of_thread)(void*) = nullptr;  // a new reference; null: in no frame
  void* (*caller)(void*) = nullptr;           // a new reference; null: the outermost
  void* (*code)(void*) = nullptr;             // a new reference
  int (*line)(void*) = nullptr;
  // Python 3.9, which lacks these, allocates nothing where a stack is read.
  int (*disable_collection)() = nullptr;  // 1: it was on
  int (*enable_collection)() = nullptr;
  void (*release)(void*) = nullptr;
  bool complete = false;

  Interpreter() noexcept {
    complete = find("PyThreadState_Get", thread_state) && find("PyThreadState_GetFrame", frame_of_thread) &&
               find("PyFrame_GetBack", caller) && find("PyFrame_GetCode", code) &&
               find("PyFrame_GetLineNumber", line) && find("Py_DecRef", release);
    if (!find("PyGC_Disable", disable_collection) || !find("PyGC_Enable", enable_collection))
      disable_collection = nullptr;
  }

 private:
  template <typename Function>
  static bool find(const char* name, Function*& function) noexcept {
    function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
  }
};

const Interpreter& interpreter() noexcept {
  static const Interpreter found;
  return found;
}

}  // namespace

void* own_thread_state() noexcept {
  return interpreter().complete ? interpreter().thread_state() : nullptr;
}

std::int32_t read_stack(void* thread_state, PythonPlace* places, std::int32_t capacity) noexcept {
  const Interpreter& python = interpreter();
  if (!python.complete || thread_state == nullptr || places == nullptr) return 0;
  const bool collects = python.disable_collection != nullptr && python.disable_collection() == 1;
  std::int32_t count = 0;
  void* frame = python.frame_of_thread(thread_state);
  while (frame != nullptr && count < capacity) {
    places[count++] = {python.code(frame), python.line(frame)};
    // No frame is kept but the one that is read: a frame that outlives its call keeps all that called it.
    void* const caller = python.caller(frame);
    python.release(frame);
    frame = caller;
  }
  if (frame != nullptr) python.release(frame);
  if (collects) python.enable_collection();
  return count;
}

void release_stack(const PythonPlace* places, std::int32_t count) noexcept {
  for (std::int32_t i = 0; i < count; ++i) interpreter().release(places[i].code);
}

}  // namespace lockstep::tracer::pytorch
