// Python's collections of garbage, as recorded.
#pragma once

#include <string_view>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// O(host ranges of the rank).
IntervalSet garbage_collections(const RankTrace& rank, const StringTable& strings);

inline constexpr std::string_view kGarbageRemedy =
    "`gc.freeze()` once the model and its data are there, `gc.disable()` and gc.collect() on all ranks in the same "
    "step; or make fewer objects that live long";

}  // namespace lockstep::analyzer
