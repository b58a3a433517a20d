// DeepSpeed's rule for batch sizes: sequences of a step over all ranks = sequences of a rank's micro-step ×
// micro-steps of a step × data-parallel ranks.
#pragma once

#include "base/result.h"
#include "reference_trainer/modes/zero/deepspeed_config.h"

namespace lockstep::trainer {

struct ResolvedBatch {
  std::int64_t micro_batch = 1;
  std::int64_t accumulation = 1;
};

// What is not known follows from the rest: of three, the third from two; one micro-step where the
// accumulation is not known; `usual_micro_batch` where neither it nor the whole batch is. Errors name
// DeepSpeed's keys and their values.
Result<ResolvedBatch> solve_batch_sizes(const BatchSizes& known, std::int64_t ranks,
                                        std::int64_t usual_micro_batch);

}  // namespace lockstep::trainer
