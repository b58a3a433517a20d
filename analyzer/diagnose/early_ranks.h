// Which ranks are done earlier than the others in every step, so that they do most of the waiting?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

struct EarlyRanks {
  std::vector<std::int32_t> ranks;             // fewer than half of all, ascending
  std::int64_t waited_ns = 0, all_ns = 0;      // in collectives, outside of compute: by them, and by all
  std::int64_t compute_ns = 0, others_ns = 0;  // in a step: their mean, and that of the others
};

// Those that wait for more than twice as long as the median of the ranks in nine of ten steps or more, if
// they do two thirds of all waiting, and compute for less time than the others by half of what they wait or
// more: nobody is late then, and no turns are taken. Of three ranks at least, of which fewer than half are
// early. Not asked of pipelines, whose stages wait by their schedule, nor where hosts limit lateness
// (StepTable::is_limited).
std::optional<EarlyRanks> early_ranks(const StepTable& table);

}  // namespace lockstep::analyzer
