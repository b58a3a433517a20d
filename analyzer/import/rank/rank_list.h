// Lists of ranks as PyTorch writes them into its traces.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::analyzer {

// "[0, 1, 2]" or "0,1,2". `cut` is set where an ellipsis says that there are more, or where the text is no
// list of numbers.
struct RankList {
  std::vector<std::int32_t> ranks;  // in the order of the group: a group rank is an index
  bool cut = false;
};
RankList parse_ranks(std::string_view text);

}  // namespace lockstep::analyzer
