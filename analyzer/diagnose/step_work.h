// Whether what ranks compute longer is more work: evidence beside the time itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnose/kernel_work.h"
#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// How much each rank had to do in each step, in units that only compare.
struct StepWork {
  std::string what;            // "the counter `tokens`", "the number of kernels"
  std::vector<double> amount;  // [step · ranks + rank], as the table's cells; NaN where it is not known
  std::optional<KernelWork> kernels = std::nullopt;  // where these tell it, and not a counter
};

// From a counter that tells the size of a batch (tokens, samples, sequence length: the last point within the
// step), on all ranks and in nine of ten steps; else, where ranks compute on GPUs, from the sizes that their
// kernels are launched in (`sizes`: what KernelWork read of them), or where those are not known from their
// number. Absent where none is known, all amounts are equal, or kernels differ in fewer than half of the
// steps.
std::optional<StepWork> work_of_steps(const Job& job, const StepTable& table,
                                      const std::optional<KernelWork>& sizes);

// compute_ns of each cell.
std::vector<double> compute_of_steps(const StepTable& table);

}  // namespace lockstep::analyzer
