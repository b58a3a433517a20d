// A report of a part of the job: of some ranks, of one process group. What is left keeps its figures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "base/result.h"

namespace lockstep::analyzer {

struct RankRange {
  std::int32_t first = 0, last = 0;  // both included
};

struct Restriction {
  std::vector<RankRange> ranks;  // empty: all
  std::string group;             // its name; empty: all
  bool any() const { return !ranks.empty() || !group.empty(); }
};

// Leaves of ranks[], steps[] and counters[] those of the ranks, of collectives[] those that one of them takes
// part in and that are of the group, with all their participants. groups[], wait_states[] (of the ranks' own
// waits) and efficiency are computed anew of what is left. Everything else, findings and blame above all, is
// of the whole job: nobody's waiting can be explained without those who were waited for. Errors: a rank or
// group that the report does not have; the message lists those that it has.
Status restrict_report(const Restriction& to, Report& report);

}  // namespace lockstep::analyzer
