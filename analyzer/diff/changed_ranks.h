// Which ranks are the difference between two runs.
#pragma once

#include "analyzer/diff/runs_diff.h"

namespace lockstep::analyzer {

// Sets `changed_ranks` and `their_cause`. Ranks are named where at most half of them do at least half of the
// step's change themselves, each beyond chance, none of the others does as much, or more than a quarter of it
// beyond chance, and these wait the longer for it (the shorter, where the step got shorter) by at least half.
void find_changed_ranks(RunsDiff& diff);

}  // namespace lockstep::analyzer
