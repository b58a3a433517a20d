// The lanes of threads in one file: a thread has one, whichever sources know of it.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "trace/events/event.h"
#include "trace/writer.h"

namespace lockstep::tracer {

// On the writer thread.
class HostLanes {
 public:
  HostLanes(trace::Writer& writer, std::uint64_t process) : writer_(writer), process_(process) {}

  // The lane of a thread of this process, by the kernel's number; made if it has none. `name` is what to call
  // it; empty: what the system calls it, for a new one.
  trace::LaneId lane(std::uint32_t thread, std::string_view name = {});
  // The thread is gone, and its number may come back as another's.
  void forget(std::uint32_t thread) { lanes_.erase(thread); }

 private:
  trace::Writer& writer_;
  std::uint64_t process_;
  std::unordered_map<std::uint32_t, trace::LaneId> lanes_;
};

}  // namespace lockstep::tracer
