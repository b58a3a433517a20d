// Steps of a job whose trace marks none: inference and serving loops, programs recorded without Python,
// traces of tools that know no steps. Found by what repeats, and the evidence is named.
#pragma once

#include <stop_token>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Where no rank has a step mark, gives all ranks marks by, in this order,
// 1. the optimizer: a step is from the end of one range "Optimizer.step#…" to the end of the next;
// 2. the forward passes of a loop that trains nothing (iterations.h),
// 3. repetition: the longest stretch of launches that repeats (repetition.h), from its first launch on.
//    Replays of a CUDA graph are one launch each. Where nothing does, the same with collectives of one name
//    told apart by their bytes.
// Numbers from 0 on. Nothing where ranks would get different numbers of steps: nobody knows which of them
// belong together. Adds the warning `steps_found`, which says by what and how many. Linear in the activities
// but for a factor of at most 24. Flight-recorder dumps get none.
void find_steps(Job& job, const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
