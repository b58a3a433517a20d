// Parallel efficiency after POP (Performance Optimisation and Productivity, a centre of excellence in HPC).
#pragma once

#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// From each rank's compute and window: load_balance = mean C / max C, communication = max C / T, parallel =
// their product, where T is the longest window. Absent where nobody computes, for one rank alone, and
// where a rank's measures are not known.
EfficiencyReport parallel_efficiency(const std::vector<RankReport>& ranks);

}  // namespace lockstep::analyzer
