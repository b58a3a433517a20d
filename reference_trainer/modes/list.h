// Every mode of training, once. A new one: a folder beside this file, and its type here.
#pragma once

#include "reference_trainer/modes/ddp/mode.h"
#include "reference_trainer/modes/fsdp/mode.h"
#include "reference_trainer/modes/pipeline/mode.h"
#include "reference_trainer/modes/zero/mode.h"

namespace lockstep::trainer {

template <class... Modes>
struct ModeList {};

// In the order in which --help shows their flags. The first one is what a job does that is not told.
using AllModes = ModeList<Ddp, Fsdp, Zero1, Zero2, Zero3, Pipeline, Single>;

}  // namespace lockstep::trainer
