// A rank's times onto another clock.
#pragma once

#include <functional>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Replaces every time of the rank by what `map` makes of it, and restores the order that job.h promises.
// False, and nothing is changed, where an event's time would leave ±kTimeLimit; what only bounds what is
// known (losses, the ending) is held within. Precondition: `map` never falls; where it is flat, things of a
// nanosecond's difference come to be at once.
bool map_times(RankTrace& trace, const std::function<Nanoseconds(Nanoseconds)>& map);

// From the earliest to the latest event; nothing where there are none.
struct EventSpan {
  bool any = false;
  TimeSpan span;
};
EventSpan span_of_events(const RankTrace& trace);

}  // namespace lockstep::analyzer
