#include "tracer/control/python_stacks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace lockstep::tracer::control {

bool write_python_stacks(const std::string& path) noexcept {
  // Exported by CPython up to 3.12 for faulthandler's sake: null pointers stand for "the main interpreter"
  // and "no thread is the current one". Made to be called from anywhere: it allocates nothing, takes no lock
  // and stops after 100 threads of 100 frames.
  using DumpThreads = const char* (*)(int descriptor, void* interpreter, void* current_thread);
  using MainInterpreter = void* (*)();
  using IsInitialized = int (*)();
  const auto dump = reinterpret_cast<DumpThreads>(dlsym(RTLD_DEFAULT, "_Py_DumpTracebackThreads"));
  const auto main = reinterpret_cast<MainInterpreter>(dlsym(RTLD_DEFAULT, "PyInterpreterState_Main"));
  const auto initialized = reinterpret_cast<IsInitialized>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
  if (dump == nullptr || main == nullptr || initialized == nullptr || initialized() == 0) return false;
  void* const interpreter = main();
  if (interpreter == nullptr) return false;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const char* const problem = dump(file, interpreter, nullptr);
  close(file);
  if (problem == nullptr) return true;
  unlink(path.c_str());
  return false;
}

}  // namespace lockstep::tracer::control
