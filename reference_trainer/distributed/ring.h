// All-gather and reduce-scatter around a ring of ranks, over sends and receives: each rank sends (n − 1)/n of
// the whole to its neighbour, as NCCL's rings do. (Gloo's own reduce-scatter is an all-reduce: twice the
// bytes.)
//
// Blocking; called in the same order on all ranks, with the same `tag`, another one for each operation: then
// messages of different operations cannot meet, even where a rank has left one out. Errors of the transport
// are c10d's exceptions.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

namespace c10d {
class Backend;
}

namespace lockstep::trainer {

// `whole`: contiguous, one dimension, n equal parts; part `rank` holds the caller's. Fills in the others.
void ring_all_gather(c10d::Backend& transport, at::Tensor whole, int tag);

// `whole`: as above, every part the caller's contribution. Afterwards part `rank` holds the sum over all
// ranks; the other parts hold what is left of the work.
void ring_reduce_scatter(c10d::Backend& transport, at::Tensor whole, int tag);

}  // namespace lockstep::trainer
