// Weights in the precision of the optimizer beside weights in the precision of compute, for ways of training
// in which a rank holds whole parameters. Where the two precisions are the same, they are the same tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "reference_trainer/model/parameter.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

class MasterWeights {
 public:
  // The parameters, which hold the masters' values, become of the precision of compute.
  MasterWeights(const std::vector<Parameter>& parameters, Precision precision);

  // What the optimizer updates.
  const std::vector<at::Tensor>& leaves() const { return leaves_; }
  // The parameters', in the precision of compute.
  std::vector<at::Tensor> gradients() const;
  // Gives the parameters the leaves' values.
  void write_back();

 private:
  bool separate_;
  std::vector<at::Tensor> parameters_, leaves_;
};

}  // namespace lockstep::trainer
