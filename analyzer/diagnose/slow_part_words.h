// Where a rank that computes longer does so, in words: by module and operator, where they were recorded.
#pragma once

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/late_reason.h"

namespace lockstep::analyzer {

// Of a rank whose lateness, in these steps, is compute: adds ", 14.2 of them in `layers.7.mlp`" to what it
// does, and what shows it to the evidence; where no part of the model stands out, evidence of that alone. The
// table of all parts goes into the reason. Whether it named a place.
bool say_where_it_computes(const FindingContext& context, const StepTable& steps, const RankLateness& late,
                           LateReason& reason);

}  // namespace lockstep::analyzer
