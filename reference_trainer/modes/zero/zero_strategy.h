// What the stages of ZeRO (Rajbhandari et al. 2020) have in common: every rank owns an equal part of each
// parameter's optimizer state, gradients are reduced to the part's owner in buckets while backward makes
// them, and the order of it all is DeepSpeed's. docs/zero.md says what is modelled.
//
//   stage 1   gradients stay whole and are reduced once a step: with overlap_comm during the last backward,
//             else after it
//   stage 2   they are reduced during the backward of every micro-step
//   stage 3   so they are, and parameters are gathered for their use alone (sharded_parameters.h)
#pragma once

#include <memory>
#include <vector>

#include "reference_trainer/distributed/collective_group.h"
#include "reference_trainer/modes/zero/gradient_reducer.h"
#include "reference_trainer/modes/zero/optimizer_partition.h"
#include "reference_trainer/modes/zero/options.h"
#include "reference_trainer/modes/zero/partitioned_parameter.h"
#include "reference_trainer/strategy/microbatch_pass.h"
#include "reference_trainer/strategy/strategy.h"

namespace lockstep::trainer {

class ZeroStrategy : public Strategy {
 public:
  std::vector<at::Tensor> optimized() override { return optimizer_->leaves(); }
  std::vector<at::Tensor> gradients() override { return optimizer_->gradients(); }
  double run(BatchSource& batches) override;
  int gradient_copies() const override { return 1; }
  StateShares shares() const override;
  bool leaves_are_masters() const override { return options().stage < 3; }
  StateBytes theory(std::int64_t elements) const override;
  std::int64_t most_gradient_bytes() const override { return most_gradient_bytes_; }

 protected:
  // The parameters belong to this from here on.
  explicit ZeroStrategy(const StrategyContext& context);

  // Around a part's compute; gradients are seen to.
  virtual void begin_pass() {}
  virtual void before_part(int /*part*/) {}
  virtual void after_part(int /*part*/) {}

  const ZeroOptions& options() const { return context_.options.own.get<DeepSpeedOptions>().zero; }
  Precision model_precision() const { return context_.options.model.precision; }
  const Model& model() const { return context_.model; }
  CollectiveGroup& group() { return *group_; }
  // Of all parts, in the order of registration; numbered so.
  std::vector<PartitionedParameter>& parameters() { return parameters_; }
  OptimizerPartition& optimizer() { return *optimizer_; }

 private:
  double run_micro_step(const Batch& batch, int index);
  bool during_backward() const { return options().stage >= 2 || options().overlap_comm; }
  void take_gradients_of(int part);

  StrategyContext context_;
  PassContext pass_;
  std::unique_ptr<CollectiveGroup> group_;
  std::vector<PartitionedParameter> parameters_;
  std::vector<std::size_t> counts_;  // of parameters of each part
  std::unique_ptr<OptimizerPartition> optimizer_;
  std::unique_ptr<GradientReducer> reducer_;
  bool reducing_ = false;                 // in this backward
  std::int64_t most_gradient_bytes_ = 0;  // where they are reduced after backward
};

}  // namespace lockstep::trainer
