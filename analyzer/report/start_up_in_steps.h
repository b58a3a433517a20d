// Start-up that lies within the steps a report is over: the first step's mark may begin before the model is
// set up. The account counts it as start-up, and what is over whole steps counts it too.
#pragma once

#include <cstdint>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// The mean of the ranks with steps; 0 where steady training leaves it out, or where it is less than a
// twentieth of their time. O(ranks + warnings).
std::int64_t start_up_in_steps_ns(const Report& report);

}  // namespace lockstep::analyzer
