// Pipeline parallelism: --mode pipeline.
#pragma once

#include <memory>

#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

struct Pipeline {
  static const Mode mode;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

}  // namespace lockstep::trainer
