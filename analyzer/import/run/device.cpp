#include "analyzer/import/run/device.h"

#include <fmt/format.h>

#include <algorithm>

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

bool is_told_twice(const trace::Lane& lane, const std::vector<trace::Lane>& lanes) {
  if (lane.kind != trace::LaneKind::compute_thread && lane.kind != trace::LaneKind::communication)
    return false;
  if (lane.name != "cuda device" && !lane.name.ends_with(" (by events)")) return false;
  return std::any_of(lanes.begin(), lanes.end(),
                     [](const trace::Lane& other) { return other.kind == trace::LaneKind::device_stream; });
}

Class class_of(trace::ActivityClass activity_class) {
  switch (activity_class) {
    case trace::ActivityClass::compute:
      return Class::compute;
    case trace::ActivityClass::collective:
      return Class::collective;
    case trace::ActivityClass::p2p:
      return Class::p2p;
    case trace::ActivityClass::copy:
      return Class::copy;
    case trace::ActivityClass::sync:
      return Class::sync;
  }
  return Class::unclassified;
}

Class class_of(const KernelName& kernel) {
  switch (kernel.kind) {
    case KernelKind::compute:
      return Class::compute;
    case KernelKind::communication:
      return is_point_to_point(kernel.operation) ? Class::p2p : Class::collective;
    case KernelKind::unclassified:
      return Class::unclassified;
  }
  return Class::unclassified;
}

}  // namespace lockstep::analyzer::run
