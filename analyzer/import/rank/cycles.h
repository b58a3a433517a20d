// Several profiles of one process, as torch.profiler's schedule writes them: one file a cycle.
#pragma once

#include <vector>

#include "analyzer/import/rank/rank_import.h"
#include "base/result.h"

namespace lockstep::analyzer {

// Files of one rank and one process, whose times do not overlap and whose step numbers rise from one to the
// next, become one recording, between whose parts nothing was recorded; or, with `cycle` (from 1, in the
// order of time) only that one is kept. A warning says which. Other files of one rank stay apart:
// merge_ranks() keeps one. Error: no rank has so many cycles.
Status join_cycles(std::vector<RankImport>& imports, int cycle, std::vector<Warning>& warnings);

}  // namespace lockstep::analyzer
