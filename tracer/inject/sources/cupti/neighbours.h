// Other tools in the process that use CUPTI, which serves one at a time.
#pragma once

#include <string>
#include <vector>

namespace lockstep::tracer::cupti {

// Nsight Systems or Nsight Compute is in the process, and owns CUPTI from beginning to end: how that was seen
// ("NSYS_PROFILING_SESSION_ID is set"). Empty if not. `lookup` is getenv, `loaded` the libraries in the
// process.
std::string nsight_in_process(const char* (*lookup)(const char*), const std::vector<std::string>& loaded);

// PyTorch's profiler (Kineto, in libtorch_cpu.so). It takes the buffer callbacks when it prepares a trace,
// and gives no sign when it is done: so it is asked, by a method of it that the library exports.
class KinetoProbe {
 public:
  // Whether it prepares, takes or writes a trace right now. False where there is no PyTorch, or one that
  // can't be asked.
  bool is_active();

 private:
  bool look_up();

  bool (*is_active_)(void* profiler) = nullptr;
  void* (*api_)() = nullptr;
  const void* methods_ = nullptr;  // what a profiler object begins with: the address of its table of methods
  void* profiler_ = nullptr;
};

}  // namespace lockstep::tracer::cupti
