// How long each layer's passes take on each rank (docs/metrics.md, "Layers").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Over the steps that `selected` holds. O(activities · log of it).
std::vector<LayerReport> summarise_layers(const Job& job,
                                          const std::function<bool(std::optional<std::int64_t>)>& selected,
                                          const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
