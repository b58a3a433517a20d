// How much of each pipeline's time is its bubble, beside what its schedule cannot avoid (docs/metrics.md,
// "Pipelines").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "analyzer/metrics/pipeline_regions.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// One entry for each pipeline group, over its regions in the steps that `selected` holds; in the order of
// groups. O(activities of the groups' ranks + regions · log of it).
std::vector<PipelineReport> measure_pipelines(
    const Job& job, const Matching& matching, const JobWaits& waits,
    const std::vector<PipelineRegion>& regions,
    const std::function<bool(std::optional<std::int64_t>)>& selected, const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
