// Gloo's part of PyTorch: when a collective truly runs on the group's worker thread, and when a thread of the
// program waits for one.
//
// The process group puts each collective's work into a queue (enqueue, on the caller) and one of its threads
// carries it out (execute): both are calls within libtorch_cpu that can be redirected. Waiting is a virtual
// function of the work.
#pragma once

#include <string>

namespace lockstep::tracer::pytorch {

// Follows the works of all Gloo groups of the process. Empty if all is well, else what can't be recorded.
// Calling it again changes nothing.
std::string follow_gloo_works();

}  // namespace lockstep::tracer::pytorch
