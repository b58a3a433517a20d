// How much ranks have to compute, told by the kernels that they launch on GPUs.
#pragma once

#include <optional>

#include "analyzer/diagnose/step_work.h"
#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Of each rank in each step, the sum over its kernels of what a kernel of that name and launch size takes in
// the mean on the *other* ranks: its own pace has no part in it. Absent on CPUs; where in fewer than half of
// the steps ranks launch other kernels or sizes than each other, since their work is the same then; and where
// in more than a tenth of the cells kernels that no other rank launched, or of unknown size, make up a tenth
// of the compute.
std::optional<StepWork> work_of_kernel_sizes(const Job& job, const StepTable& table);

// The number of kernels. Absent on CPUs.
std::optional<StepWork> work_of_kernel_numbers(const Job& job, const StepTable& table);

}  // namespace lockstep::analyzer
