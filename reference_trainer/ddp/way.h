// Two ways in which every rank has the whole model: a job of one rank, and data parallelism.
#pragma once

#include <memory>

#include "reference_trainer/options/way.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

struct Single {
  static const Way way;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

struct Ddp {
  static const Way way;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

}  // namespace lockstep::trainer
