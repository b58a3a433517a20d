// Reports of steps alone, for the tests of this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// own[step][rank]: what a rank does by itself, as compute. All then meet: a rank waits for the one with most
// to do, and all move data for `transfer`. Steps are numbered from 100 on.
inline Report report_of_steps(const std::vector<std::vector<std::int64_t>>& own, std::int64_t transfer = 50) {
  Report report;
  for (std::size_t rank = 0; !own.empty() && rank < own.front().size(); ++rank) {
    RankReport row;
    row.rank = static_cast<std::int32_t>(rank);
    report.ranks.push_back(row);
  }
  std::int64_t number = 100;
  for (const std::vector<std::int64_t>& step : own) {
    const std::int64_t most = *std::max_element(step.begin(), step.end());
    for (std::size_t rank = 0; rank < step.size(); ++rank) {
      StepReport row;
      row.step = number;
      row.rank = static_cast<std::int32_t>(rank);
      Measures& measures = row.measures;
      measures.window_ns = most + transfer;
      measures.compute_ns = measures.partition[Cause::compute] = step[rank];
      measures.partition[Cause::barrier_wait] = most - step[rank];
      measures.partition[Cause::transfer] = transfer;
      report.steps.push_back(row);
    }
    ++number;
  }
  return report;
}

}  // namespace lockstep::analyzer
