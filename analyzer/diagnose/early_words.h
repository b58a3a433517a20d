// What a finding says of ranks that are early in every step.
#pragma once

#include "analyzer/diagnose/early_ranks.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Title, evidence and remedy. Whether they have less to compute, or take less time for as much, is said where
// the sizes of their kernels tell.
void describe_early(const FindingContext& context, const EarlyRanks& early, Finding& finding);

}  // namespace lockstep::analyzer
