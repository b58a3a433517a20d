// Whether what ranks compute longer is more work: evidence beside the time itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// How much each rank had to do in each step, in units that only compare.
struct StepWork {
  std::string what;            // "the counter `tokens`", "the number of kernels"
  std::vector<double> amount;  // [step · ranks + rank], as the table's cells
};

// From a counter that tells the size of a batch (tokens, samples, sequence length: the last point within the
// step), on all ranks and in nine of ten steps; else, where ranks compute on GPUs, from the sizes that their
// kernels are launched in (kernel_work.h), or from the number of kernels that a step launched. Absent where
// neither is known or all amounts are equal.
std::optional<StepWork> work_of_steps(const Job& job, const StepTable& table);

// Pearson's correlation of two quantities over ranks and steps, each as its deviation from the median of its
// step, so that what all ranks have in common does not count. 0 where one of them does not vary. As many
// values as cells.
double correlation_within_steps(const StepTable& table, const std::vector<double>& a,
                                const std::vector<double>& b);

// compute_ns of each cell.
std::vector<double> compute_of_steps(const StepTable& table);

// Of a rank (index), mean over steps of amount / median of the others' amounts; absent where that is 0.
std::optional<double> amount_beside_others(const StepTable& table, const std::vector<double>& amount,
                                           std::size_t rank);

}  // namespace lockstep::analyzer
