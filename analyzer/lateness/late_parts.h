// What a late rank does longer than the others.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/lateness/step_table.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Causes explain a rank's lateness if they make up this part of it.
inline constexpr double kExplains = 0.5;

// A cause whose time is longer on the late rank, in the mean of the table's steps.
struct LatePart {
  Cause cause = Cause::other;
  std::int64_t ns = 0;         // beyond the median of the others of the same step; 1 at least
  std::int64_t others_ns = 0;  // how long the median of the others takes by it
};

// The causes that `rank` (an index) spends longer in than the others, in eight of ten blocks of steps; where
// there are fewer than ten steps, of these. The greatest first. Waiting is what late ranks do less of, and is
// none of them. O(steps · ranks · causes).
std::vector<LatePart> parts_of_lateness(const StepTable& table, std::size_t rank);

// The rank's time by one cause in the mean of the steps, beyond the lower median of the others' means: `ns`
// is negative where it is less. O(steps · ranks).
LatePart time_beyond_others(const StepTable& table, std::size_t rank, Cause cause);

}  // namespace lockstep::analyzer
