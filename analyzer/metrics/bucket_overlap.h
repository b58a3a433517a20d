// Overlap per layer or bucket: the collectives that come again in every step (docs/metrics.md, "Buckets").
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// From the report's collectives in steps, messages left out; of the records of ranks that `counts` says. The
// group with most time first, its operations by most time, and these in the order in which a step issues
// them. O(records).
std::vector<BucketReport> summarise_buckets(
    const Report& report, const std::function<bool(std::int32_t)>& counts = [](std::int32_t) { return true; },
    const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
