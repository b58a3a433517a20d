// Is one of several members higher than the others throughout? The test of docs/statistics.md, over blocks of
// consecutive observations: members that are not special can change places within any block.
#pragma once

#include <span>
#include <vector>

namespace lockstep::analyzer {

// By member: the chance that any of so many, none of them special, is as consistently high as it is; 1 at
// most. Over blocks values[block][member], all with the same members, two at least. Of two members each is as
// high as the other is low, and how far counts as well (signed_ranks.h); of more, places do (place_sums.h),
// and the chance of one is multiplied by their number (Bonferroni). O(blocks · members · log members).
std::vector<double> chances_of_members(std::span<const std::vector<double>> values);

}  // namespace lockstep::analyzer
