// A slow link told from a slow rank: one that comes late to a collective because the one before ended later
// on it than on the others, was late by its transfer and not by its work.
#pragma once

#include <cstdint>
#include <functional>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct InheritedLateness {
  std::int64_t blame_ns = 0;     // waits of the others for the rank, where its lateness was mostly inherited
  std::int64_t collectives = 0;  // in how many operations
};

// Of the operations to which `rank` came last and that `counts` chooses. Inherited: at least half of the time
// by which it came later than the one that waits is that by which it had ended the group's operation before
// later. O(records).
InheritedLateness inherited_lateness(const Report& report, std::int32_t rank,
                                     const std::function<bool(const CollectiveReport&)>& counts);

}  // namespace lockstep::analyzer
