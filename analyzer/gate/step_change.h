// What became of a step between the baseline and the runs that are judged: by how much each cause's time
// changed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/gate/run_record.h"
#include "analyzer/report/measures.h"

namespace lockstep::analyzer {

// In ns a step and rank: the mean over runs of each run's mean over ranks and steady steps.
struct CauseChange {
  Cause cause = Cause::other;
  double base_ns = 0, head_ns = 0;
  double change_ns() const { return head_ns - base_ns; }
};

// The mean step, which is the sum of its causes (docs/metrics.md); `step_time` is a median and may differ.
struct StepChange {
  double base_ns = 0, head_ns = 0;
  std::vector<CauseChange> causes;  // all of them, the greatest change first
};

// Absent where a side has no runs, or one of them does not tell every cause.
std::optional<StepChange> step_change(std::span<const RunRecord> head, std::span<const RunRecord> base);

}  // namespace lockstep::analyzer
