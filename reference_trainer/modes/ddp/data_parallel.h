// Data parallelism with c10d's Reducer, driven as PyTorch's DistributedDataParallel drives it: gradients are
// copied into buckets as backward makes them, a full bucket's all-reduce starts beneath the rest of backward,
// and the end of backward waits for them all. In the first step all gradients are one bucket; then the
// buckets are rebuilt in the order in which the gradients became ready.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "reference_trainer/model/parameter.h"
#include "reference_trainer/modes/ddp/options.h"
#include "reference_trainer/strategy/strategy.h"

namespace c10d {
class Reducer;
}

namespace lockstep::trainer {

class DataParallel {
 public:
  // Gives every rank the parameters of rank 0 and prepares to reduce their gradients.
  DataParallel(Communicator& communicator, std::vector<Parameter> parameters, const DdpOptions& options);
  ~DataParallel();

  // Call before each forward pass. `synchronize` says whether the gradients of the backward pass that follows
  // are reduced: false in all but the last micro-step of a step. Returns true where the buckets were rebuilt
  // just now.
  bool before_forward(bool synchronize);
  // Call before each backward pass that reduces gradients, after the forward pass. `outputs`: what backward
  // starts from, in which unused parameters are looked for; used only where that was asked for.
  void before_backward(const std::vector<at::Tensor>& outputs);

  // In the order in which they are reduced.
  std::vector<Bucket> buckets() const;

 private:
  Communicator& communicator_;
  std::vector<Parameter> parameters_;
  DdpOptions options_;
  std::unique_ptr<c10d::Reducer> reducer_;
};

}  // namespace lockstep::trainer
