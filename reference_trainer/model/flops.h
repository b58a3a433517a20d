// Floating-point operations of a layer, as the field counts them (Kaplan et al. 2020, Narayanan et al. 2021):
// two for each matrix weight and token, and four times sequence · hidden for attention's two products;
// backward takes twice as many as forward.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::trainer {

class Model;

inline constexpr double kBackwardFlops = 2;  // of forward's

// `input`: what the layer is given, [batch, sequence, hidden].
double layer_forward_flops(const Model& model, int part, const at::Tensor& input);

}  // namespace lockstep::trainer
