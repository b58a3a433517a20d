// Of two that are compared block by block: is one of them higher throughout?
//
// If nothing is special about either, who is higher in a block is a throw of a coin, however large the
// difference is. Differences are ordered by their size, the smallest first, from 1 on; the sum of the places
// of those that are not above 0 has then a distribution that is counted exactly (Wilcoxon, "Individual
// comparisons by ranking methods", 1945). A small difference the wrong way speaks less against it than a
// large one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep::analyzer {

// Sum of the places of differences that are 0 or less. Equal sizes share the higher place, so that ties speak
// against a difference. O(n log n).
std::int64_t signed_rank_sum(std::span<const double> differences);

// P(sum of places ≤ `sum`) over so many throws: the chance that one of two is higher as consistently. 1 where
// there are none. Exact: O(count · sum).
double chance_of_signed_ranks(std::size_t count, std::int64_t sum);

}  // namespace lockstep::analyzer
