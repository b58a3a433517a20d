// What a stage computed just before its first message of a step and just after its last one, where nothing
// names the passes. Internal to this library.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// From the beginning of the forward pass that the rank's first message of the step sends on, to the end of
// the backward pass that its last one brought the gradients for. A first message that is received has no pass
// before it, a last one that is sent none behind it. A pass is taken to be as long as what is computed
// between the two messages beside it, and a quarter; it ends where another communication begins. `messages`:
// of RankTrace::communications, not empty. O(activities between the communications before and behind them,
// and messages · log of them).
Interval passes_around_messages(const RankTrace& rank, std::vector<std::uint32_t> messages,
                                std::optional<std::int64_t> step);

}  // namespace lockstep::analyzer
