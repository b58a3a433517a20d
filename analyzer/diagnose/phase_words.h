// What is said of checkpoints, evaluation and compilation beside how much they cost.
#pragma once

#include <cstdint>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/interruptions.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// The account of the whole run has another figure for the same: the mean of the ranks, also of what lies
// elsewhere. Nothing where the two are within a twentieth.
void name_other_total(const FindingContext& context, Spending spending, std::int64_t told_ns,
                      Finding& finding);

// One rank takes half as much longer for it as the median of the others, outside of operations with these,
// by 1 % of all time between start-up and shutdown, and longest at three quarters of the places, three of
// them at least: then the others wait for it there. What it waits for a core in it is not counted: the
// scheduler decides that. Accuses nobody.
void say_who_takes_longest(const FindingContext& context, const PhaseInSteps& in_steps, Finding& finding);

}  // namespace lockstep::analyzer
