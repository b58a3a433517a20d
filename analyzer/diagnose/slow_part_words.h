// Where a rank that computes longer does so, in words: by module and operator, where they were recorded.
#pragma once

#include <string>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/late_reason.h"

namespace lockstep::analyzer {

// Of a rank whose lateness, in these steps, is compute: adds ", 14.2 of them in `layers.7.mlp`" to what it
// does, and what shows it to the evidence; where no part of the model stands out, evidence of that alone. The
// table of all parts goes into the reason. Whether it named a place.
bool say_where_it_computes(const FindingContext& context, const StepTable& steps, const RankLateness& late,
                           LateReason& reason);

// "`adapter` and `adapter.conv`": the parts in which the rank computes and most others do not, at most two,
// where all of them make up half of what it computes longer and it has the others' parts as well; "" else. A
// pipeline's stage has parts of its own by design: not for these.
std::string parts_of_it_alone(const ComparedParts& parts, const RankLateness& late);

}  // namespace lockstep::analyzer
