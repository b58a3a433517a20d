// Takes out of ranges of computation what was none.
#pragma once

#include <functional>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::run {

// Of a CPU: a range of computation on a thread's own lane.
bool computes_on_thread(const RankTrace& rank, const Activity& activity);

// In place of each computation stand its pieces outside of what is cut from it; the first keeps the range's
// begin and the last its end, with nothing computed there where that was cut. A piece behind another one is
// launched when it begins: only then could the thread go on. `cut_of`: by activity; null: nothing.
void cut_activities(RankTrace& rank, const std::function<const IntervalSet*(const Activity&)>& cut_of);

}  // namespace lockstep::analyzer::run
