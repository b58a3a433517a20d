// ZeRO stages 1 and 2: every rank has whole parameters, and the optimizer of its part of them. A step ends
// with all-gathers of the updated parts, of allgather_bucket_size elements each.
#pragma once

#include "reference_trainer/modes/zero/zero_strategy.h"

namespace lockstep::trainer {

class ShardedOptimizer : public ZeroStrategy {
 public:
  explicit ShardedOptimizer(const StrategyContext& context) : ZeroStrategy(context) {}

  void after_update() override;
};

}  // namespace lockstep::trainer
