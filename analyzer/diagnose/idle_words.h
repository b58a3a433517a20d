// What a finding says that ranks do between their computations.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/intervals/interval_set.h"

namespace lockstep::analyzer {

// What the ranks' training threads did between computations, Σ over ranks.
struct ThreadsInGaps {
  std::int64_t without_core_ns = 0;
  bool ran = false;           // for half of the time at least, as far as looks tell
  bool may_have_run = false;  // looks leave that open
};
ThreadsInGaps threads_in_gaps(const FindingContext& context);

// Hardly anything is known as computation, and no backward pass: what the ranks do between may be all of it.
bool knows_no_computation(const FindingContext& context);

// `times`: of each rank, the gaps that are looked at. Says that half of them or more is garbage collection,
// on most ranks or of all ranks' together, and is false where it is not.
bool say_all_collect_garbage(const FindingContext& context, const std::vector<IntervalSet>& times,
                             Finding& finding);

// Which line of Python the ranks are in, or that they collect garbage; false where nobody looked, or looks
// disagree.
bool name_what_ranks_do(const FindingContext& context, const std::vector<IntervalSet>& times,
                        const ThreadsInGaps& threads, Finding& finding);

}  // namespace lockstep::analyzer
