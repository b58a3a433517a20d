#include "reference_trainer/training/strategy.h"

#include "reference_trainer/fsdp/fully_sharded.h"
#include "reference_trainer/pipeline/pipeline_parallel.h"
#include "reference_trainer/training/replicated.h"

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

std::unique_ptr<Strategy> make_strategy(const StrategyContext& context) {
  if (context.communicator == nullptr) return std::make_unique<Replicated>(context);
  switch (context.options.mode) {
    case Mode::fsdp:
      return std::make_unique<FullySharded>(context);
    case Mode::pipeline:
      return std::make_unique<PipelineParallel>(context);
    case Mode::ddp:
    case Mode::single:
      break;
  }
  return std::make_unique<Replicated>(context);
}

}  // namespace lockstep::trainer
