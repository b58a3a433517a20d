// What the kernel calls a thread of this process: what pthread_setname_np or PR_SET_NAME gave it.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::tracer {

// Empty if the thread is gone. For the writer thread: it reads a file.
std::string thread_system_name(std::uint32_t thread);
// For a lane: "main" for the process's first thread, its system name, or "thread 4711" where it has none.
std::string thread_lane_name(std::uint32_t thread, std::int64_t process);

}  // namespace lockstep::tracer
