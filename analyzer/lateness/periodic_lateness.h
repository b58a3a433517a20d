// Whether a rank comes late at regular intervals: what it does every so many steps (a checkpoint, an
// evaluation, garbage collection) holds the others up.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

struct PeriodicLateness {
  std::int32_t rank = 0;
  std::int64_t period = 0;        // steps from one late step to the next; 2 at least
  std::int64_t first = 0;         // number of the first late step
  std::int64_t worst = 0;         // and of the worst one
  std::int64_t times = 0;         // how many there are; 3 at least
  std::int64_t late_ns = 0;       // by how much the rank is late in them, in the median of these steps
  std::int64_t otherwise_ns = 0;  // and in the median of all others
  double chance = 1;              // that late steps of healthy ranks lie like this
};

// A late step is one in which a rank is late by at least half of what the worst rank is in the worst step.
// Periodic: all late steps are of one rank, three or more, one period apart (by their places among the
// steps), none missing from the beginning of the table to its end, in the median of the other steps the rank
// is late by a quarter of that at most, and it is beyond chance: of all ways in which k late steps can fall
// on n steps and R ranks, those that are periodic like this make up at most kLatenessLevel. O(steps · ranks).
std::optional<PeriodicLateness> periodic_lateness(const StepTable& table);

// Of the C(n, k) ways to choose k of n steps, the share that is periodic with a period of 2 or more, times
// members^(1−k) for all k being of one member.
double chance_of_period(std::size_t steps, std::size_t times, std::size_t members);

}  // namespace lockstep::analyzer
