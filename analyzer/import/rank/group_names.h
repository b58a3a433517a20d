// What to call process groups: PyTorch numbers them, and jobs describe them (`mesh_dp`,
// `TENSOR_MODEL_PARALLEL_GROUP`).
#pragma once

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Groups whose name is a number or a hash get their description for a name, where the job gave one. Two
// groups of the same ranks that are described alike keep their names behind it, so that they stay apart.
void name_groups(Job& job);

}  // namespace lockstep::analyzer
