// What ranks do behind their last step, for one reason.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/account/account.h"
#include "analyzer/diagnose/finding_context.h"

namespace lockstep::analyzer {

// A last checkpoint, an evaluation of what was trained.
struct Behind {
  std::int64_t all_ns = 0;           // Σ over ranks
  std::int64_t longest_ns = 0;       // of the rank that does most of it itself
  std::int64_t longest_own_ns = 0;   // of that, outside of operations with others
  std::optional<std::int32_t> rank;  // of which alone it took that, as of PhaseStretch
  FindingPlace place;                // of that rank
};
// All 0 where there is nothing. A pass over all ranges of the ranks.
Behind behind_the_last_step(const FindingContext& context, Phase phase);

}  // namespace lockstep::analyzer
