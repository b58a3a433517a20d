// A parameter of a model with its name.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace lockstep::trainer {

struct Parameter {
  std::string name;  // "layer_0.mlp_input.weight"
  at::Tensor tensor;
};

}  // namespace lockstep::trainer
