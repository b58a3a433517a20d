// Checkpoints that are saved in the background already: what of them still stops training.
#pragma once

#include "analyzer/diagnose/finding_context.h"

namespace lockstep::analyzer {

// Where half of the time in checkpoints or more is PyTorch's async_save and waiting for one, by the names
// that the hook gives these: says so in the finding, and what can be done about that instead of using
// async_save. Else nothing. A pass over all ranges.
void say_what_blocks_of_async_saves(const FindingContext& context, Finding& finding);

}  // namespace lockstep::analyzer
