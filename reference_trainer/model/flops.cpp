#include "reference_trainer/model/flops.h"

#include "reference_trainer/model/model.h"

namespace lockstep::trainer {

double layer_forward_flops(const Model& model, int part, const at::Tensor& input) {
  const auto tokens = static_cast<double>(input.size(0) * input.size(1));
  const auto attention = static_cast<double>(4 * input.size(1) * input.size(2));
  return tokens * (2 * model.matrix_weights(part) + attention);
}

}  // namespace lockstep::trainer
