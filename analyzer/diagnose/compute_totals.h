// Which computations a rank spends longer in than the others, over all steps.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct ComputeExcess {
  std::uint32_t name = 0;      // Job::strings
  std::int64_t own_ns = 0;     // mean over the steps
  std::int64_t others_ns = 0;  // lower median of the others' means
  std::int64_t excess_ns() const { return own_ns - others_ns; }
};

// Of the names that every rank of the table computes under, by excess, greatest first. O(activities).
std::vector<ComputeExcess> computations_by_excess(const Job& job, const StepTable& steps, std::int32_t rank);

}  // namespace lockstep::analyzer
