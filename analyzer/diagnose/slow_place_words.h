// In which line of Python a late rank spends its time, in words: where stacks were looked at.
#pragma once

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/late_reason.h"

namespace lockstep::analyzer {

// "`load (train.py:31)`" of a rank that does something for `cause_ns` longer, and what shows it, which goes
// to the evidence. Empty where stacks do not tell.
std::string name_where_python_was(const FindingContext& context, const StepTable& steps,
                                  const RankLateness& late, LateReason& reason);

// What to record, to see in which line of Python a rank is, as far as that is not done: "`lockstep record …".
std::string how_to_name_it(const Job& job);

}  // namespace lockstep::analyzer
