// Ranges that PyTorch and the program name themselves: torch.profiler.record_function, and what DDP, FSDP,
// optimizers, pipelines and data loaders declare the same way. They come from an observer of libtorch's
// RecordFunction, of user scope only: not one of the operators costs anything.
#pragma once

#include <string>

namespace lockstep::tracer::pytorch {

// Empty if all is well, else why not. Calling it again changes nothing.
std::string follow_user_ranges();

}  // namespace lockstep::tracer::pytorch
