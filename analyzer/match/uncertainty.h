// How far two ranks' timestamps can be trusted against each other.
#pragma once

#include <cstdint>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// False where the importer could not relate one of the clocks to the others': times between the two mean
// nothing then.
bool clocks_are_related(const RankTrace& a, const RankTrace& b);

// The coarser of the two timestamps' resolutions, plus, between different clocks, both clocks' uncertainties.
// No order of two instants that are closer than this is ever claimed; between unrelated clocks, of none.
std::int64_t uncertainty_between(const RankTrace& a, const RankTrace& b);

}  // namespace lockstep::analyzer
