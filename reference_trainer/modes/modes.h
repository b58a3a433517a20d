// The modes of training, for whoever wants to go through them all.
#pragma once

#include <span>

#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {

// In the order of list.h.
std::span<const Mode* const> all_modes();

}  // namespace lockstep::trainer
