// Whether a rank comes late at regular intervals: what it does every so many steps (a checkpoint, an
// evaluation, garbage collection) holds the others up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct PeriodicLateness {
  std::int64_t period = 0;        // steps from one late step to the next; 2 at least
  std::int64_t first = 0;         // the first late step
  std::int64_t times = 0;         // how many there are; 3 at least
  std::int64_t late_ns = 0;       // what the others waited for the rank in them, in the median of these steps
  std::int64_t otherwise_ns = 0;  // and in the median of all others
};

// Of collectives that `counts`. A step is late if the others waited for the rank at least half as long as in
// the worst one. Periodic: three late steps or more, all of them one period apart (by their places among the
// steps of the report), none missing between the first and the last, and in the other steps a quarter of that
// waiting at most.
std::optional<PeriodicLateness> periodic_lateness(const Report& report, std::int32_t rank,
                                                  const std::function<bool(const CollectiveReport&)>& counts);

}  // namespace lockstep::analyzer
