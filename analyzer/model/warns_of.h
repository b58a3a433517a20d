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

}  // namespace lockstep::analyzer
