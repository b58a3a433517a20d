// What trains in a way. Apart from ways.h, so that who reads a command line does without libtorch.
#pragma once

#include <memory>

#include "reference_trainer/options/way.h"

namespace lockstep::trainer {

class Strategy;
struct StrategyContext;

using StrategyFactory = std::unique_ptr<Strategy> (*)(const StrategyContext& context);

// Of a way of list.h.
StrategyFactory factory_of(const Way& way);

}  // namespace lockstep::trainer
