// Of a rank that is late for what it moves data longer.
#pragma once

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/late_reason.h"
#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

// `link` where operations that others carry out at the same size take longer on it, by half of that at least;
// within a host by a quarter of the others' time besides, for its processes share a path. `more_data` where
// its operations carry more instead; else `unknown`.
LateReason reason_of_transfer(const FindingContext& context, const StepTable& steps,
                              const RankLateness& late);

}  // namespace lockstep::analyzer
