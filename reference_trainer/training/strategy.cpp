#include "reference_trainer/training/strategy.h"

#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/fsdp/fully_sharded.h"
#include "reference_trainer/model/model.h"
#include "reference_trainer/pipeline/pipeline_parallel.h"
#include "reference_trainer/training/replicated.h"
#include "reference_trainer/zero/sharded_optimizer.h"
#include "reference_trainer/zero/sharded_parameters.h"

namespace lockstep::trainer {

std::vector<at::Tensor> Strategy::gradients() {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& leaf : optimized()) gradients.push_back(leaf.grad());
  return gradients;
}

PassContext pass_context(const StrategyContext& context) {
  const Options& options = context.options;
  return {.model = context.model,
          .lane = context.lane,
          .checkpoint = options.training.activation_checkpointing,
          .forward_repetitions = options.slow.rank == context.placement.rank ? options.slow.factor : 1};
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

std::unique_ptr<Strategy> make_strategy(const StrategyContext& context) {
  if (context.communicator == nullptr) return std::make_unique<Replicated>(context);
  switch (context.options.mode) {
    case Mode::fsdp:
      return std::make_unique<FullySharded>(context);
    case Mode::zero1:
    case Mode::zero2:
      return std::make_unique<ShardedOptimizer>(context);
    case Mode::zero3:
      return std::make_unique<ShardedParameters>(context);
    case Mode::pipeline:
      return std::make_unique<PipelineParallel>(context);
    case Mode::ddp:
    case Mode::single:
      break;
  }
  return std::make_unique<Replicated>(context);
}

}  // namespace lockstep::trainer
