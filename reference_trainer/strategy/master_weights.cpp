#include "reference_trainer/strategy/master_weights.h"

#include <ATen/core/grad_mode.h>

#include "reference_trainer/model/model.h"

namespace lockstep::trainer {

MasterWeights::MasterWeights(const std::vector<Parameter>& parameters, Precision precision)
    : separate_(compute_type(precision) != master_type(precision)) {
  for (const Parameter& parameter : parameters) {
    parameters_.push_back(parameter.tensor);
    if (!separate_) {
      leaves_.push_back(parameter.tensor);
      continue;
    }
    leaves_.push_back(parameter.tensor.detach().clone().requires_grad_(true));
    parameters_.back().set_data(parameter.tensor.detach().to(compute_type(precision)));
  }
}

std::vector<at::Tensor> MasterWeights::gradients() const {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters_) gradients.push_back(parameter.grad());
  return gradients;
}

void MasterWeights::write_back() {
  if (!separate_) return;
  const at::NoGradGuard no_gradient;
  for (std::size_t i = 0; i < leaves_.size(); ++i) parameters_[i].copy_(leaves_[i]);
}

}  // namespace lockstep::trainer
