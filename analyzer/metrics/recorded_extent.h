#pragma once

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// From the first to the last of what was recorded of the rank, as far as every analysis has it: activities
// and the calls that launched them, steps, data loading, and host ranges of kLongHostRange and more. Beyond,
// nothing says what it did or waited for. Empty where there is nothing.
Interval recorded_extent(const RankTrace& rank);

}  // namespace lockstep::analyzer
