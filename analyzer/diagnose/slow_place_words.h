// In which line of Python a late rank spends its time, in words: where stacks were looked at.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/late_reason.h"
#include "analyzer/stacks/slow_place.h"

namespace lockstep::analyzer {

// "`load (train.py:31)`" of a rank that does something for `cause_ns` longer, and what shows it, which goes
// to the evidence. Empty where stacks do not tell.
std::string name_where_python_was(const FindingContext& context, const StepTable& steps,
                                  const RankLateness& late, LateReason& reason);

// "102 of 160 looks at its Python stack saw it in `load (train.py:31)`, where it is 226 ms longer in a step
// than the others". `whose`: "its", "rank 2's".
std::string describe_looks(const SlowPlace& place, std::string_view whose);

// Operators were recorded (`record --operators`, or a profile of them), on some rank.
bool has_operators(const Job& job);

// What to record, to see in which line of Python a rank is, as far as that is not done: "`lockstep record …".
std::string how_to_name_it(const Job& job);

}  // namespace lockstep::analyzer
