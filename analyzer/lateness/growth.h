// Whether a rank that is late comes later and later: a list that gets longer, memory that fills.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

// By how much the rank is late in the first third of the steps and in the last, or does longer what it is
// late by: medians, ns.
struct Growth {
  std::int64_t first_third_ns = 0, last_third_ns = 0;
};

// Over the table's steps, in order, of what the rank spends on `cause` beyond the median of the others; where
// the cause is not known, of its lateness. Nothing where the last third is less than half as much again as
// the first, where the medians of six parts of the steps (of fewer than 18 steps: a third as many) do not
// rise in six of seven of their pairs, where the rank is no later in the last third than in the first, or
// where there are fewer than nine steps. Steps that do not change would show as much by chance in fewer than
// 1 of 30 runs: it says how a rank is late of which other things tell that it is. (Lateness alone moves with
// all that happens to the others.)
std::optional<Growth> growth_of(const StepTable& table, std::int32_t rank, std::optional<Cause> cause);

}  // namespace lockstep::analyzer
