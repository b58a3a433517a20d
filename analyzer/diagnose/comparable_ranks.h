// Which ranks can one be compared with? A rank that has no steps is no measure of one that has some.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// The other ranks, ascending, that have windows of their own in four fifths at least of the steps in which
// this one has (of two ranks that are judged together each lacks a tenth of all steps at most); where nobody
// has steps, those that have a window. Who has none to be compared with is not accused, nor said to do what
// no other rank does. O(steps · ranks).
std::vector<std::int32_t> comparable_ranks(const Report& report, std::int32_t rank);

// The one rank that has steps, where the report has others.
std::optional<std::int32_t> only_rank_with_steps(const Report& report);

}  // namespace lockstep::analyzer
