// Pipeline parallelism: each rank holds some layers, activations go down the row of ranks and gradients come
// back, in the order of a schedule (schedule.h). Several pipelines may train side by side, each on its share
// of the batch.
//
// What a rank issues around an action, as PyTorch's and Megatron-LM's schedules do: with the send of what one
// action made, the receive of what the next one needs, so that a stage in its turns does {send activation,
// receive gradient} after a forward and {send gradient, receive activation} after a backward. Sends run
// beside compute. With overlap_p2p receives do too: what an action needs is posted before the action before
// it computes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reference_trainer/distributed/collective_group.h"
#include "reference_trainer/distributed/p2p_group.h"
#include "reference_trainer/modes/pipeline/layout.h"
#include "reference_trainer/modes/pipeline/mailbox.h"
#include "reference_trainer/strategy/master_weights.h"
#include "reference_trainer/strategy/microbatch_pass.h"
#include "reference_trainer/strategy/strategy.h"

namespace lockstep::trainer {

class PipelineParallel : public Strategy {
 public:
  // The model's parameters are the same on all ranks (they follow from the seed). Those of other stages are
  // given back: afterwards they have no elements here.
  explicit PipelineParallel(const StrategyContext& context);

  std::vector<at::Tensor> optimized() override { return weights_.leaves(); }
  std::vector<at::Tensor> gradients() override { return weights_.gradients(); }
  double run(BatchSource& batches) override;
  int gradient_copies() const override { return place_.pipelines; }
  void after_update() override { weights_.write_back(); }
  std::int64_t own_elements(std::int64_t elements) const override;
  StateBytes theory(std::int64_t elements) const override;

 private:
  std::vector<Parameter> keep_own_parameters();
  // An activation, or its gradient: [batch, sequence, hidden].
  at::Tensor example() const;
  // Returns what is to be sent on, undefined where nothing is.
  at::Tensor forward(const Action& action, BatchSource& batches);
  at::Tensor backward(const Action& action);
  at::Tensor receive(const Action& action);
  void post_receive(const Action& action);

  StrategyContext context_;
  PassContext pass_context_;
  PipelineShape shape_;
  PipelinePlace place_;
  std::vector<Action> actions_;  // of a step
  std::vector<at::Tensor> own_parameters_;
  MasterWeights weights_;
  std::map<std::pair<int, int>, MicrobatchPass> passes_;  // by chunk and microbatch: forward is done
  double loss_ = 0;                                       // sum over the step's microbatches
  P2pGroup p2p_;
  Mailbox mailbox_;
  std::unique_ptr<CollectiveGroup> copies_;  // of this stage; null where there is one pipeline
};

}  // namespace lockstep::trainer
