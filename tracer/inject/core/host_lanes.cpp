#include "tracer/inject/core/host_lanes.h"

#include <string>

#include "tracer/inject/core/thread_name.h"

namespace lockstep::tracer {

trace::LaneId HostLanes::lane(std::uint32_t thread, std::string_view name) {
  const auto found = lanes_.find(thread);
  if (found != lanes_.end()) {
    if (!name.empty()) writer_.rename_lane(found->second, name);
    return found->second;
  }
  const std::string text =
      !name.empty() ? std::string(name) : thread_lane_name(thread, static_cast<std::int64_t>(process_));
  const trace::LaneId lane = writer_.add_lane({trace::LaneKind::host_thread, process_, thread, 0, text});
  lanes_.emplace(thread, lane);
  return lane;
}

}  // namespace lockstep::tracer
