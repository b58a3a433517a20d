// Pipelines of two to four stages, balanced as they should be.
#pragma once

#include "analyzer/model/pipeline_job.h"
#include "tests/accuracy/about.h"

namespace lockstep::accuracy {

inline analyzer::PipelinePlan pipeline_plan(Random& random) {
  const int stages = 2 + static_cast<int>(random.below(3));
  return {.stages = stages,
          .order = analyzer::one_forward_one_backward(stages, 2 * stages),
          .forward = about(random, 10),
          .backward = about(random, 20)};
}

}  // namespace lockstep::accuracy
