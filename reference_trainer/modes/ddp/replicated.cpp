#include "reference_trainer/modes/ddp/replicated.h"

#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/distributed/failure.h"
#include "reference_trainer/model/model.h"
#include "reference_trainer/modes/ddp/mode.h"

namespace lockstep::trainer {

using annotations::Scope;

Replicated::Replicated(const StrategyContext& context)
    : context_(context),
      pass_(pass_context(context)),
      weights_(context.model.all_parameters(), context.options.model.precision) {
  if (context.communicator == nullptr) return;
  data_parallel_ = std::make_unique<DataParallel>(*context.communicator, context.model.all_parameters(),
                                                  context.options.own.get<DdpOptions>());
  context_.on_buckets(false, data_parallel_->buckets());
}

double Replicated::run(BatchSource& batches) {
  context_.model.zero_grad();
  double loss = 0;
  const int micro_steps = context_.options.training.gradient_accumulation;
  for (int index = 0; index < micro_steps; ++index) loss += run_micro_step(batches.next(), index);
  return loss / micro_steps / context_.placement.world_size;
}

double Replicated::run_micro_step(const Batch& batch, int index) {
  const int micro_steps = context_.options.training.gradient_accumulation;
  // As under DistributedDataParallel.no_sync(): gradients are reduced in the last micro-step alone.
  const bool synchronize = data_parallel_ != nullptr && index + 1 == micro_steps;
  if (data_parallel_ && data_parallel_->before_forward(synchronize))
    context_.on_buckets(true, data_parallel_->buckets());
  pass_.waits_in_backward_of = synchronize ? 0 : -1;
  MicrobatchPass pass(pass_, index, 0, context_.model.head());
  {
    const auto phase = Scope::phase("forward");
    pass.forward(batch.tokens, batch.targets);
  }
  if (synchronize) data_parallel_->before_backward(pass.outputs());
  const auto phase = Scope::phase("backward");
  const auto backward = [&] { pass.backward({}, 1.0 / micro_steps); };
  if (synchronize)
    naming("backward of micro-step " + std::to_string(index) + ", which all-reduces the gradients", backward);
  else
    backward();
  return pass.loss();
}

std::unique_ptr<Strategy> Single::make(const StrategyContext& context) {
  return std::make_unique<Replicated>(context);
}

std::unique_ptr<Strategy> Ddp::make(const StrategyContext& context) {
  return std::make_unique<Replicated>(context);
}

}  // namespace lockstep::trainer
