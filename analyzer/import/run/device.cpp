#include "analyzer/import/run/device.h"

#include <fmt/format.h>

namespace lockstep::analyzer::run {

std::string device_of(const std::vector<trace::Lane>& lanes) {
  std::string device = "cpu";
  for (const trace::Lane& lane : lanes) {
    if (lane.kind == trace::LaneKind::device_stream) return fmt::format("cuda:{}", lane.device);
    if (lane.kind != trace::LaneKind::compute_thread) continue;
    if (lane.name == "paced device") device = "paced";
    if (lane.name == "cuda device" && device == "cpu") device = "cuda";
  }
  return device;
}

}  // namespace lockstep::analyzer::run
