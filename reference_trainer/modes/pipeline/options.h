// The options of pipeline parallelism. The number of microbatches is TrainingOptions::gradient_accumulation.
#pragma once

#include "reference_trainer/modes/pipeline/schedule.h"

namespace lockstep::trainer {

struct PipelineOptions {
  int stages = 0;  // 0: as many as there are ranks
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  int chunks = 0;            // of the model on each rank; 0: what the schedule needs at least
  bool overlap_p2p = false;  // receives are posted before the compute that comes before their use
};

}  // namespace lockstep::trainer
