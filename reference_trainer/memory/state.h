// The parameters, gradients and optimizer state that this rank holds, counted from its tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "reference_trainer/memory/theory.h"

namespace torch::optim {
class Optimizer;
}

namespace lockstep::trainer {

class Model;

// `leaves`: what the optimizer updates. Memory that several tensors share counts once, and what a way of
// sharding has given up not at all. Leaves of another precision than the model's are masters and count with
// the optimizer, as do those that are masters in any precision. `parameter_stores`: more memory for
// parameters.
StateBytes measure_state(const Model& model, const std::vector<at::Tensor>& leaves,
                         const std::vector<at::Tensor>& gradients, torch::optim::Optimizer& optimizer,
                         const std::vector<at::Tensor>& parameter_stores, bool leaves_are_masters);

}  // namespace lockstep::trainer
