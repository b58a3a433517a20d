// How long each layer's passes take on each rank, and what the program's counters showed (docs/metrics.md,
// "Layers", "Counters").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Over the steps that `selected` holds. O(activities · log of it).
std::vector<LayerReport> summarise_layers(const Job& job,
                                          const std::function<bool(std::optional<std::int64_t>)>& selected);

// Over the whole recording. Points that are not finite count in `points` alone.
std::vector<CounterReport> summarise_counters(const Job& job);

}  // namespace lockstep::analyzer
