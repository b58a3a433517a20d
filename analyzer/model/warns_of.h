// Whether a job's warnings, or those of a report on it, say a thing.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Whether one of them has the code, of whatever rank. O(warnings).
inline bool warns_of(const std::vector<Warning>& warnings, std::string_view code) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const Warning& warning) { return warning.code == code; });
}

// Of a job whose ranks' steps do not go together (analyzer/metrics/step_alignment.h): nobody is judged by
// them.
inline constexpr const char* kStepsApart = "steps_apart";

}  // namespace lockstep::analyzer
