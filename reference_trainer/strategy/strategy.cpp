#include "reference_trainer/strategy/strategy.h"

#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/model/model.h"

namespace lockstep::trainer {

std::vector<at::Tensor> Strategy::gradients() {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& leaf : optimized()) gradients.push_back(leaf.grad());
  return gradients;
}

PassContext pass_context(const StrategyContext& context) {
  const Options& options = context.options;
  return {
      .model = context.model, .lane = context.lane, .checkpoint = options.training.activation_checkpointing};
}

void broadcast_parameters(const StrategyContext& context) {
  context.communicator->set_purpose(Purpose::parameters);
  std::vector<at::Tensor> all;
  for (const Parameter& parameter : context.model.all_parameters()) all.push_back(parameter.tensor.detach());
  context.communicator->broadcast(all);
}

double forward_backward(const PassContext& context, const Batch& batch, int index, double loss_scale) {
  MicrobatchPass pass(context, index, 0, context.model.head());
  {
    const auto phase = annotations::Scope::phase("forward");
    pass.forward(batch.tokens, batch.targets);
  }
  const auto phase = annotations::Scope::phase("backward");
  pass.backward({}, loss_scale);
  return pass.loss();
}

}  // namespace lockstep::trainer
