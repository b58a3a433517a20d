// Is one member of a group higher than the others again and again, or only as often as chance would have it?
//
// Each of B blocks of observations orders the R members; a member's place in a block is how many of the
// others lie below it, 0 to R − 1. Where the members are exchangeable within a block (nobody is special; what
// a block holds may be as autocorrelated, skewed and bursty as it likes), each place is equally likely in
// each block, so that the sum of a member's places is a sum of B independent uniform numbers. That makes the
// test exact for any distribution of the values, without drawing random permutations: it is the permutation
// test that swaps members within blocks, for the statistic "sum of places" (Friedman, "The use of ranks to
// avoid the assumption of normality implicit in the analysis of variance", 1937).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::analyzer {

// P(sum of `blocks` independent uniform numbers of 0 … members − 1 ≥ `sum`). 1 for a sum of 0 or no blocks.
// O(blocks² · members).
double chance_of_place_sum(std::size_t members, std::size_t blocks, std::int64_t sum);

// The same of many sums, each with the same result. O(blocks² · members) for all of them together.
std::vector<double> chances_of_place_sums(std::size_t members, std::size_t blocks,
                                          std::span<const std::int64_t> sums);

// Sums of places over blocks: values[block][member]. Members that are equal share the lower place, so that
// ties speak against a difference. All blocks have the same number of members. O(blocks · members · log
// members).
std::vector<std::int64_t> place_sums(std::span<const std::vector<double>> values);

// How `count` observations in a row are cut into `wanted` blocks of equal length, or a few more. What is left
// over at the end belongs to the last block.
struct Blocks {
  std::size_t count = 0;
  std::size_t length = 0;
  std::size_t begin(std::size_t block) const { return block * length; }
  std::size_t end(std::size_t block, std::size_t observations) const {
    return block + 1 == count ? observations : (block + 1) * length;
  }
};
Blocks cut_into_blocks(std::size_t count, std::size_t wanted);

// The least number of blocks with which a member of `members` that is highest in every one of them is beyond
// chance: members · members^−blocks ≤ `level`. Two members at least.
std::size_t blocks_needed(std::size_t members, double level);

}  // namespace lockstep::analyzer
