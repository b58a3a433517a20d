// Are these few of many observations higher than the rest?
//
// All observations are ordered, the highest first: its place is 0. If nothing is special about the few, each
// choice of so many places is equally likely, so that the distribution of the sum of their places is known
// exactly, whatever the observations' own distribution is (Wilcoxon, "Individual comparisons by ranking
// methods", 1945; Mann and Whitney, "On a test of whether one of two random variables is stochastically
// larger than the other", 1947).
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::analyzer {

// P(sum of `few` distinct places chosen from 0 … count − 1 ≤ `sum`). 0 below the least sum there is, 1 from
// the greatest on, and where few is 0 or above count. Exact where there are fewer than 10^250 choices and
// few · sum is below 10^7, by counting partitions: O(few · sum); else the normal distribution's, which is
// then close.
double chance_of_rank_sum(std::size_t count, std::size_t few, std::int64_t sum);

}  // namespace lockstep::analyzer
