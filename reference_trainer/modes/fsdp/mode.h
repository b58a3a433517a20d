// Fully sharded data parallelism: --mode fsdp.
#pragma once

#include <memory>

#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

struct Fsdp {
  static const Mode mode;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

}  // namespace lockstep::trainer
