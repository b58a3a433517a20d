// The stages of ZeRO as ways to train: --mode zero1, zero2, zero3.
#pragma once

#include <memory>

#include "reference_trainer/options/way.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

struct Zero1 {
  static const Way way;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

struct Zero2 {
  static const Way way;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

struct Zero3 {
  static const Way way;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

}  // namespace lockstep::trainer
