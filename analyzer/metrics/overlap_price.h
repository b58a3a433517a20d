// What overlap costs: communication kernels take multiprocessors and memory bandwidth from the compute beside
// them. docs/metrics.md, "Overlap's price".
#pragma once

#include <optional>
#include <span>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

inline constexpr std::size_t kLeastAlone = 3;    // activities of a kind, to know how long it takes alone
inline constexpr std::int64_t kLeastUnder = 20;  // activities of all such kinds, to speak of a price

// Compute that begins within one of `windows` (sorted, disjoint) and ran under communication from its begin
// to its end, beside the median of the same (name, shape, layer and pass) that ran without any; what was
// partly covered is neither. Kernels of which neither a shape nor a layer is known are left out: one name may
// stand for very different sizes. O(n) in the rank's activities.
std::optional<OverlapPrice> price_overlap(const RankTrace& rank, std::span<const Interval> windows);

}  // namespace lockstep::analyzer
