// Every way to train, once. A new one: a folder beside fsdp/, and its type here.
#pragma once

#include "reference_trainer/ddp/way.h"
#include "reference_trainer/fsdp/way.h"
#include "reference_trainer/pipeline/way.h"
#include "reference_trainer/zero/way.h"

namespace lockstep::trainer {

template <class... Ways>
struct WayList {};

// In the order in which --help shows their flags. The first one is what a job does that is not told.
using AllWays = WayList<Ddp, Fsdp, Zero1, Zero2, Zero3, Pipeline, Single>;

}  // namespace lockstep::trainer
