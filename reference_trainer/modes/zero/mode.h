// The stages of ZeRO: --mode zero1, zero2, zero3.
#pragma once

#include <memory>

#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

struct Zero1 {
  static const Mode mode;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

struct Zero2 {
  static const Mode mode;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

struct Zero3 {
  static const Mode mode;
  static std::unique_ptr<Strategy> make(const StrategyContext& context);
};

}  // namespace lockstep::trainer
