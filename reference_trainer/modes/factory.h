// What trains in a mode. Apart from modes.h, so that who reads a command line does without libtorch.
#pragma once

#include <memory>

#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

using StrategyFactory = std::unique_ptr<Strategy> (*)(const StrategyContext& context);

// Of a mode of list.h.
StrategyFactory factory_of(const Mode& mode);

}  // namespace lockstep::trainer
