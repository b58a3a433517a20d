// The part of a report that figures are of: its steady steps, or all of it where none are marked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// One step on all ranks.
struct JobStep {
  std::int64_t step = 0;
  std::int64_t window_ns = 0;  // Σ over its ranks
  std::int64_t ranks = 0;
  double mean_ns() const { return static_cast<double>(window_ns) / static_cast<double>(ranks); }
};

struct SteadyPart {
  const Report& report;
  const std::vector<RankReport>& ranks;  // over the windows of the steps
  std::vector<JobStep> steps;            // ascending; none where the run marks none
  // Of every rank known, and of every one its waits: else means over ranks would be of some alone.
  bool measures_known = false, waits_known = false;

  // Σ over ranks of `ns` a step and rank; absent without steps.
  std::optional<double> per_step(std::int64_t ns) const;
  // The same of one rank's figure.
  std::optional<double> per_step_of_rank(std::int64_t ns) const;
};

// `report` must outlive it. Without a steady part the report's own ranks and all steps.
SteadyPart steady_part(const Report& report);

}  // namespace lockstep::analyzer
