// For tests: what holds in every report, whatever the job: no cause exceeds the window that it lies in, no
// wait or transfer its operation, and no sum over a rank that rank's time; of the account and steady
// training, exact sums; of a finding, no more lost than there is.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// What does not hold, a line each; empty where all does. Of whole reports and of those of selected steps or
// ranks.
std::vector<std::string> broken_invariants(const Report& report);

}  // namespace lockstep::analyzer
