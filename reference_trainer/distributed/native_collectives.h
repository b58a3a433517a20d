// Collectives as a backend has them itself (NCCL), in the place of ring.h's: on the calling thread's current
// stream, in place.
#pragma once

#include <ATen/core/Tensor.h>

#include "trace/events/event.h"

namespace c10d {
class Backend;
}

namespace lockstep::trainer {

// `operation`: all_gather, reduce_scatter (a sum) or all_reduce (a sum). `whole`: as in ring.h.
void run_native(c10d::Backend& backend, trace::Operation operation, at::Tensor whole);

}  // namespace lockstep::trainer
