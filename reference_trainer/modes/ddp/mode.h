// Two modes in which every rank has the whole model: a job of one rank, and data parallelism.
#pragma once

#include <memory>

#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

struct Single {
  static const Mode mode;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

struct Ddp {
  static const Mode mode;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

}  // namespace lockstep::trainer
