// What of a pipeline's bubble is the doing of stages that are late.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/outside_passes.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// What findings say that is lost to late stages: others wait for them in the bubble, and what a stage sleeps
// in its passes is bubble on that stage.
struct LateStages {
  std::int64_t lost_ns = 0;
  std::map<std::int32_t, std::int64_t> own_compute_ns;  // by rank; part of lost_ns
};
LateStages said_of_late_stages(const std::vector<Finding>& findings);

using OutsidePasses = std::map<std::int32_t, IntervalSet>;  // computed_outside_passes()

// What stages compute outside of their passes is bubble in their region, and compute in the table of ranks.
// By rank, of the pipeline's stages.
std::map<std::int32_t, std::int64_t> computed_in_bubble(const FindingContext& context,
                                                        const PipelineReport& pipeline,
                                                        const OutsidePasses& outside);

// What late stages compute beside their passes: their own doing, which the findings about them name. Without
// what these count already.
std::int64_t computed_by_late_stages(const FindingContext& context, const LateStages& late,
                                     const OutsidePasses& outside);

}  // namespace lockstep::analyzer
