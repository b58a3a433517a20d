// Which GPUs a process sees: two ranks that call theirs GPU 0 have one GPU, or two.
#pragma once

#include <string>
#include <vector>

namespace lockstep::tracer::cupti {

// The names that `nvidia-smi -L` prints ("GPU-8f6d…", "MIG-…"), by the process's own numbers of its devices.
// Empty where the driver, a handle of dlopen, does not tell. After cuInit; calls into the driver, and may
// take as long as it likes.
std::vector<std::string> device_uuids(void* driver);

}  // namespace lockstep::tracer::cupti
