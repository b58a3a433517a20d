// Several profiles of one process, as torch.profiler's schedule writes them: one file a cycle.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/import/rank/rank_import.h"
#include "base/result.h"

namespace lockstep::analyzer {

// From the first event to the end of the last, on the clock that files of one process share.
std::optional<TimeSpan> recorded_span(const RankImport& import);
void order_by_time(const std::vector<RankImport>& imports, std::vector<std::size_t>& files);

// Whether `second` is a later profile of the process that `first` is one of: the process has the same number,
// the times do not overlap, and the step numbers rise, unless the number tells enough (two profilers in one
// process both count from 0).
bool is_later_cycle(const RankImport& first, const RankImport& second);

// Files of one rank, or of one worker (workers.h), that are each a later cycle of the one before, become one
// recording, between whose parts nothing was recorded; or, with `cycle` (from 1) only that one is kept, and
// ranks that lack it are left out: which cycles these have is told by their steps, or times. Step numbers
// that begin again go on, on all ranks alike. Warnings say all this. Other files of one rank stay apart:
// merge_ranks() keeps one. Error: no rank has so many cycles.
Status join_cycles(std::vector<RankImport>& imports, int cycle, std::vector<Warning>& warnings);

}  // namespace lockstep::analyzer
