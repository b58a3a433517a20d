// What a reader of the report must know of the clocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct ClockOutcome {
  bool consistent = true;                // the records don't contradict each other
  std::vector<std::int32_t> set_clocks;  // ranks whose clock was set during the run
};

// Codes: clocks_by_happened_before, clocks_by_wall_clock, clocks_unrelated, clocks_contradict, clock_set.
void warn_of_clocks(Job& job, const ClockOutcome& outcome);

// "3, 7, 12"; of many the first, and an ellipsis.
std::string list_of_ranks(const std::vector<std::int32_t>& ranks);

}  // namespace lockstep::analyzer
