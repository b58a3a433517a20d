// The ways to train, for whoever wants to go through them all.
#pragma once

#include <span>

#include "reference_trainer/options/way.h"

namespace lockstep::trainer {

// In the order of list.h.
std::span<const Way* const> all_ways();

}  // namespace lockstep::trainer
