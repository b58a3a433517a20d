// Runs of two programs in pairs, one of each after the other on the same machines: what both share
// (placement, neighbours, the time of day) falls out of their difference. Looked at after every pair, so that
// a clear case ends early.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/comparison/zone.h"

namespace lockstep::analyzer {

struct RunPair {
  double head = 0, base = 0;
};

// Over the pairs, of head - limit, turned so that more is worse: where the relative tolerance is the larger
// one, each pair has the limit of its own base. Two pairs at least, or nothing is known of the spread.
Excess excess_of_pairs(std::span<const RunPair> pairs, Direction direction, const Tolerance& tolerance);

// By look, after two pairs first and after `pairs` last: which part of the rate of errors may be spent there.
// They add up to 1, so that all looks together keep the rate, whatever the looks have in common (Bonferroni's
// inequality). Most is kept for the last look, because who looks early should find only what is clear. Of
// fewer than two pairs there is none.
std::vector<double> spending(std::size_t pairs);

}  // namespace lockstep::analyzer
