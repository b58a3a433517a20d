// Which GPU a process's device is: two ranks that call theirs GPU 0 have one GPU, or two.
#pragma once

#include <cstddef>
#include <string>

namespace lockstep::trace {

// The metadata under which a device, by the process's own number, has the name that `nvidia-smi -L` prints:
// "GPU-8f6d…", or "MIG-…" of a slice.
inline std::string device_uuid_key(std::size_t device) {
  return "cuda.device." + std::to_string(device) + ".uuid";
}

}  // namespace lockstep::trace
