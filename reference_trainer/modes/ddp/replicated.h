// The whole model on every rank: a job of one rank (`single`), or data parallelism (`ddp`).
#pragma once

#include <memory>

#include "reference_trainer/modes/ddp/data_parallel.h"
#include "reference_trainer/strategy/master_weights.h"
#include "reference_trainer/strategy/microbatch_pass.h"
#include "reference_trainer/strategy/strategy.h"

namespace lockstep::trainer {

class Replicated : public Strategy {
 public:
  explicit Replicated(const StrategyContext& context);

  std::vector<at::Tensor> optimized() override { return weights_.leaves(); }
  std::vector<at::Tensor> gradients() override { return weights_.gradients(); }
  double run(BatchSource& batches) override;
  int gradient_copies() const override { return context_.placement.world_size; }
  void after_update() override { weights_.write_back(); }
  StateBytes theory(std::int64_t elements) const override {
    return state_theory(elements, context_.options.model.precision, shares());
  }

 private:
  double run_micro_step(const Batch& batch, int index);

  StrategyContext context_;
  PassContext pass_;
  MasterWeights weights_;
  std::unique_ptr<DataParallel> data_parallel_;  // null on one rank
};

}  // namespace lockstep::trainer
