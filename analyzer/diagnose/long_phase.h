// A phase that comes once in a run and takes much of it: start-up, compilation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding_context.h"

namespace lockstep::analyzer {

// Adds a finding of the kind where the phase takes a minute or more on average over the ranks, and 10 % or
// more of what was recorded. `ns`: Σ over ranks. Whether it was added. Precondition: the account has ranks.
bool add_long_phase(const FindingContext& context, const FindingKind& kind, std::int64_t ns,
                    std::string_view remedy, std::vector<Finding>& findings);

}  // namespace lockstep::analyzer
