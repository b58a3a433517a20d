// What the clocks leave open between each rank and the others that it is compared with.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// By rank, nanoseconds: the lower median over all others of what may lie between the two clocks, which is
// nothing where they share one and the sum of both uncertainties else; 0 of a rank alone. O(n log n) in the
// ranks.
std::unordered_map<std::int32_t, std::int64_t> clock_errors(const Report& report);

}  // namespace lockstep::analyzer
