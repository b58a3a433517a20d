// The mean of gradients over the ranks of a group, all-reduced in buckets: the copy of one bucket runs beside
// the all-reduce of another.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::trainer {

class CollectiveGroup;

// Each parameter's gradient becomes the mean over the group's ranks, each of which must call this with the
// same parameters. A bucket is closed when it has reached `bucket_bytes`; the parameters go into buckets from
// the last to the first, the order in which backward makes their gradients. Blocks until all are there.
void average_gradients(CollectiveGroup& group, const std::vector<at::Tensor>& parameters,
                       std::int64_t bucket_bytes);

}  // namespace lockstep::trainer
