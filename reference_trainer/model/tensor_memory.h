// A tensor's memory, given back to the allocator and taken again while the tensor, its views, and what
// autograd has saved of them, stay.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::trainer {

// New memory for the whole storage of `tensor`; what it held is gone.
void allocate_memory(const at::Tensor& tensor);
// A device may still read it, on the caller's current stream: the memory is used again after that. Touching
// the tensor or a view of it before the next allocate_memory() is an error of torch.
void free_memory(const at::Tensor& tensor);

}  // namespace lockstep::trainer
