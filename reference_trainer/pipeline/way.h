// Pipeline parallelism as a way to train: --mode pipeline.
#pragma once

#include <memory>

#include "reference_trainer/options/way.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

struct Pipeline {
  static const Way way;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

}  // namespace lockstep::trainer
