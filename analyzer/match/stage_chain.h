// Inside match: pipelines that no name tells, by the pattern of their messages.
#pragma once

#include <vector>

#include "analyzer/match/groups.h"

namespace lockstep::analyzer {

// Per group of the table: whether its ranks, in their order, are stages of a pipeline. They are if each one
// computes, and exchanges messages with its neighbours alone, equally many in all four directions; and if in
// each step activations go to the next stage first and gradients come back last. (A ring closes; neighbours
// that swap what they have send and receive at once.) O(communications · log of groups).
std::vector<bool> find_stage_chains(const Job& job, const GroupTable& table);

}  // namespace lockstep::analyzer
