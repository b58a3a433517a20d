// Who was waited for, and what it was doing instead.
#pragma once

#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// blame(q) = Σ over operations in which q is the one waited for, of the others' waits. Greatest first; ranks
// that nobody waited for are left out.
std::vector<BlameReport> sum_blame(const std::vector<CollectiveReport>& collectives);

}  // namespace lockstep::analyzer
