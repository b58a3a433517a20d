// A rank that computes longer than the others: in what, and whether its work is more or its clock lower.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/late_reason.h"
#include "analyzer/lateness/late_parts.h"
#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

// Codes computes_longer, more_work, other_kernels and clocks_lower. `delays`: the costliest of those that it
// made.
LateReason reason_of_compute(const FindingContext& context, const StepTable& steps, const RankLateness& late,
                             std::span<const Delay* const> delays);

// "18.0 % longer"; "3.10 ms longer" where the others hardly do it.
std::string longer(const RankLateness& late);
// "in a step it computes for 3.10 ms, the median of the others for 2.00 ms". `what`: "computes".
std::string in_a_step(const char* what, const RankLateness& late);

// How much longer it computes. On loaded cores it is judged by how long its threads ran (late_by_cause.h),
// which is less than what it computes longer: then that is said.
struct ComputeWords {
  std::string longer;     // as above; "for 10.4 ms longer on a core"
  std::string in_a_step;  // as above
};
// `whole`: all that it computes longer. `ran_longer_ns`: than the others, in a step; absent where nobody
// looked.
ComputeWords words_of_compute(const RankLateness& late, const LatePart& whole,
                              std::optional<std::int64_t> ran_longer_ns);

}  // namespace lockstep::analyzer
