#include "tracer/inject/core/thread_name.h"

#include "tracer/inject/core/own_file.h"

namespace lockstep::tracer {

std::string thread_system_name(std::uint32_t thread) {
  std::string name = read_own_file("/proc/self/task/" + std::to_string(thread) + "/comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::string thread_lane_name(std::uint32_t thread, std::int64_t process) {
  if (std::int64_t{thread} == process) return "main";
  std::string name = thread_system_name(thread);
  return name.empty() ? "thread " + std::to_string(thread) : name;
}

}  // namespace lockstep::tracer
