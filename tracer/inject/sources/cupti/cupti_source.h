// The CUPTI source: GPU kernels, copies, fills, waits and the calls that launch them, of any program that
// uses CUDA. The driver loads liblockstep-inject.so at the program's cuInit (CUDA_INJECTION64_PATH).
#pragma once

namespace lockstep::tracer::cupti {

// What the driver's InitializeInjection comes down to. Never throws, changes nothing of the program's; says
// what could not be done in the file's metadata.
void initialize() noexcept;

}  // namespace lockstep::tracer::cupti
