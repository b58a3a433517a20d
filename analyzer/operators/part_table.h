// A rank's time in each part of the model beside the other ranks', as a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyzer/model/job.h"
#include "analyzer/operators/part_times.h"
#include "analyzer/report/part_comparison.h"

namespace lockstep::analyzer {

// Rows of their own at most; what is left over is one row more.
inline constexpr std::size_t kMaxPartRows = 8;
// The operator of a module is named that holds as much of its excess.
inline constexpr double kHolds = 0.6;

// `ranks` as parts_of_ranks gives them, of `steps` steps. A row for each module, or for each operator where
// no module is known.
ComparedParts table_of_parts(std::span<const PartTimes> ranks, const StringTable& strings, std::size_t steps);

}  // namespace lockstep::analyzer
