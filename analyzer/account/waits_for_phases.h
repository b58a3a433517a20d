// While one rank starts, saves a checkpoint, evaluates or compiles, others wait for it in their next
// operation. That time of theirs is spent on the same, and is no training.
#pragma once

#include <span>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/match/match.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Each rank's phases, and in those of start-up, compilation, checkpoint and evaluation also: when it waited
// in an operation for the rank that came last, while that one was in such a phase and itself computed
// nothing. All before its first computation in a step is a rank's start-up. `windows`: of each rank.
// `of_matches` and `waits` are compute_waits' and collect_waits'. O(n log n) in communications.
std::vector<Phases> with_waits_for(const Job& job, std::span<const RankWindows> windows,
                                   std::span<const Phases> phases, const Matching& matching,
                                   std::span<const MatchWaits> of_matches, const JobWaits& waits);

}  // namespace lockstep::analyzer
