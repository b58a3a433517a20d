// Evaluation of which only the model's mode is known.
#pragma once

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Whether all that is known of evaluation is the model's mode, eval() or forward passes without gradients,
// without an optimizer step, by the name that the hook gives that: rollouts of reinforcement learning, and
// generation, look alike.
bool is_known_by_mode_alone(const Job& job);

}  // namespace lockstep::analyzer
