#include "reference_trainer/training/strategy.h"

#include "reference_trainer/fsdp/fully_sharded.h"
#include "reference_trainer/training/replicated.h"

namespace lockstep::trainer {

PassContext pass_context(const StrategyContext& context) {
  const Options& options = context.options;
  return {
      .model = context.model, .lane = context.lane, .checkpoint = options.training.activation_checkpointing};
}

std::unique_ptr<Strategy> make_strategy(const StrategyContext& context) {
  if (context.communicator == nullptr) return std::make_unique<Replicated>(context);
  switch (context.options.mode) {
    case Mode::fsdp:
      return std::make_unique<FullySharded>(context);
    case Mode::ddp:
    case Mode::single:
      break;
  }
  return std::make_unique<Replicated>(context);
}

}  // namespace lockstep::trainer
