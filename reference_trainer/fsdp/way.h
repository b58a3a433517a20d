// Fully sharded data parallelism as a way to train: --mode fsdp.
#pragma once

#include <memory>

#include "reference_trainer/options/way.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

struct Fsdp {
  static const Way way;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

}  // namespace lockstep::trainer
