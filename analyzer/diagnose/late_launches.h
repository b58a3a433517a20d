// A rank whose host is late because it has more to launch than the others' hosts.
#pragma once

#include <optional>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/late_reason.h"
#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

// Of a rank that is late by its host (Cause::host_bound), on GPUs: where it launches at least 1.2 times as
// much in a step as the others, and would with as little, at its own pace, leave its device idle for half of
// its lateness less. Code `more_launches`. Absent where the counts are not known or explain less.
std::optional<LateReason> reason_of_launches(const FindingContext& context, const StepTable& steps,
                                             const RankLateness& late);

}  // namespace lockstep::analyzer
