// A rank that computes longer than the others: in what, and whether its work is more or its clock lower.
#pragma once

#include <span>
#include <string>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/late_reason.h"
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

}  // namespace lockstep::analyzer
