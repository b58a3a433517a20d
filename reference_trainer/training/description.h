// What the trainer tells of itself, so that measurement can be held against theory (docs/instrumentation.md).
#pragma once

#include <cstdint>
#include <string>

#include "reference_trainer/launcher/placement.h"
#include "reference_trainer/options/options.h"
#include "reference_trainer/strategy/strategy.h"

namespace lockstep::trainer {

// "parameters=1600000 parameter_bytes=4 …"; `elements` of the whole model.
std::string describe_training(const Options& options, const Placement& placement, const Strategy& strategy,
                              std::int64_t elements);

}  // namespace lockstep::trainer
