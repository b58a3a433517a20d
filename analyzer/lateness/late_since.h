// Whether a rank is late from some step of the run on to its end: a clock that throttles, another program
// that came. docs/statistics.md has the method and its measured error rates.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/lateness/late_ranks.h"
#include "analyzer/lateness/step_table.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct LateSince {
  RankLateness late;           // over the steps from `step` on
  LatenessReport since;        // of these steps
  std::int64_t step = 0;       // number of the first late step
  std::int64_t before_ns = 0;  // by how much the rank was late before, in the median of the steps
  StepTable steps;             // from that step on
  // What it does longer then it did before as well, half as much longer at least: why it was not late nothing
  // tells, and that it began is not known.
  bool did_so_before = false;
};

// Ranks that are late (judge_lateness) in the last three quarters, the last half or the last quarter of the
// steps, each at a third of kLatenessLevel, and from the step on where their lateness changes most
//  - by twice kLeastLateness, because more happens by chance in a part of a run than in all of it;
//  - before it they were like the others: later by a quarter of that, or earlier by half of it, at most;
//  - the change is 2.5 times what the mean moves between blocks of steps, and twice as much as any other rank
//    changes at another time: where ranks change up and down, nobody's change is special.
// Lateness moves with all that happens to the others: where one cause explains it, and rises more clearly,
// the step from which it is late is the one from which that takes longer. In the order of the ranks. O(steps
// · ranks · log ranks).
std::vector<LateSince> late_since(const StepTable& table, const Report& report);

}  // namespace lockstep::analyzer
