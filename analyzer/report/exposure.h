// Whether what waiting cost is known. Internal to the report's forms.
#pragma once

#include <algorithm>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// BlameReport::exposed_ns counts only those who waited that have a record of their compute: where one has
// none, what waiting cost it is not known, and the sum is too small.
inline bool is_exposure_known(const Report& report, const BlameReport& blame) {
  return std::none_of(report.ranks.begin(), report.ranks.end(),
                      [&blame](const RankReport& rank) { return rank.damaged && rank.rank != blame.rank; });
}

}  // namespace lockstep::analyzer
