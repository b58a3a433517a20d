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
  std::int64_t times = 0;         // how many there are; 3 at least in the rhythm, four in five of them late
  std::int64_t late_ns = 0;       // by how much the rank is late in its rhythm's steps, in their median
  std::int64_t otherwise_ns = 0;  // and in the median of all others
  double chance = 1;              // that steps of a healthy rank lie like this
  StepTable steps;                // the late ones alone
};

// A rank is late once in so many steps where, of all steps whose numbers leave the same remainder,
//  - there are three or more, and in them the rank's own time (without waiting and transfer) exceeds the
//    others' more than in its other steps, beyond chance (rank_sums.h) at kLatenessLevel over all rhythms
//    that were tried. Where no other step of any rank is half as long, that all of them are of one rank
//    counts too;
//  - in four in five of them, or in the step that follows, it is late by half of their median, which is 2 %
//    of a step or more;
//  - the rank is late by a quarter of that at most in the median of the other steps;
//  - the other ranks do not take longer in these steps as well (by half as much), or the rank takes longest
//    in them beyond chance (place_sums.h): what all ranks do every so many steps, somebody does last;
//  - no other rank is late by half as much in four in five steps of another remainder, or in a quarter of the
//    steps between, or by three quarters in half as many steps between as there are late ones, or itself
//    longer by half as much in a third of the steps between, or in four in five steps of another remainder:
//    ranks that are longer in turn;
//  - the rank itself is not late by half as much in the median of another remainder, but for the one that
//    follows: its rhythm would be a shorter one.
// Tried are the three ranks whose latest tenth of steps is latest, and the rhythms that have about as many
// steps as the rank has long ones (half as long as its third longest): neither depends on the order of the
// steps, and so does not make a regular one likelier. O(steps · (ranks + periods)).
std::optional<PeriodicLateness> periodic_lateness(const StepTable& table);

}  // namespace lockstep::analyzer
