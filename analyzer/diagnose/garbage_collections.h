// Python's collections of garbage, as recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// O(host ranges of the rank).
IntervalSet garbage_collections(const RankTrace& rank, const StringTable& strings);

// How long the rank collected garbage in each of these steps, in ns. O(host ranges of the rank + steps).
std::vector<std::int64_t> garbage_by_step(const FindingContext& context, const StepTable& steps,
                                          std::int32_t rank);

// Ranks that collect garbage at different times, and are waited for.
struct GarbageInTurn {
  std::int64_t ns = 0;       // of collections that others waited for
  std::int64_t late_ns = 0;  // by which the latest ranks of the steps were late
  std::size_t ranks = 0;     // that collected so
};
// In each step the rank counts whose lateness its collections explain most, of the step or of the one before:
// what a rank does behind a step's last collective holds the others up in the step that follows. A collection
// explains no more than it lasted. Absent where that is less than half of what the latest ranks of the steps
// are late by, or one rank's alone. ns is at most late_ns.
std::optional<GarbageInTurn> garbage_in_turn(const FindingContext& context, const StepTable& steps);

inline constexpr std::string_view kGarbageRemedy =
    "`gc.freeze()` once the model and its data are there, `gc.disable()` and gc.collect() on all ranks in the same "
    "step; or make fewer objects that live long";

}  // namespace lockstep::analyzer
