// What the counters showed (docs/metrics.md, "Layers and counters").
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Over the whole recording; per step over the steps that `selected` holds. Points that are not finite count
// in `points` alone.
std::vector<CounterReport> summarise_counters(
    const Job& job, const std::function<bool(std::optional<std::int64_t>)>& selected,
    const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
