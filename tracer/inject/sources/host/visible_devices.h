// Which of the node's GPUs a process should follow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::tracer::host {

// A GPU by NVML's number, or by the beginning of its UUID.
struct DeviceName {
  std::int32_t index = -1;  // -1: `uuid` counts
  std::string uuid;         // "GPU-8f6d…"

  bool operator==(const DeviceName&) const = default;
};

struct DeviceChoice {
  std::vector<DeviceName> devices;
  std::string problem;  // not empty: some can't be followed, and why
};

// A rank follows its own device: the entry of CUDA_VISIBLE_DEVICES at its local rank, the only entry, or the
// device of that number where the variable is not set. A process without a local rank follows all that are
// visible. `visible` is the variable's value or nullptr; `count` how many GPUs the node has.
//
// CUDA counts from the fastest GPU, NVML along the PCI bus: the same on nodes whose GPUs are all of one kind.
DeviceChoice choose_devices(const char* visible, std::int32_t local_rank, std::uint32_t count);

}  // namespace lockstep::tracer::host
