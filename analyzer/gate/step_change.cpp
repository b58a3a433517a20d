#include "analyzer/gate/step_change.h"

#include <algorithm>
#include <cmath>

namespace lockstep::analyzer {
namespace {

std::optional<double> mean_of(std::span<const RunRecord> runs, Cause cause) {
  double sum = 0;
  for (const RunRecord& run : runs) {
    const std::optional<double> value = run.of(to_string(cause), "");
    if (!value) return std::nullopt;
    sum += *value;
  }
  return runs.empty() ? std::nullopt : std::optional(sum / static_cast<double>(runs.size()));
}

}  // namespace

std::optional<StepChange> step_change(std::span<const RunRecord> head, std::span<const RunRecord> base) {
  StepChange step;
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    const auto cause = static_cast<Cause>(i);
    const std::optional<double> before = mean_of(base, cause), now = mean_of(head, cause);
    if (!before || !now) return std::nullopt;
    step.causes.push_back({cause, *before, *now});
    step.base_ns += *before;
    step.head_ns += *now;
  }
  std::stable_sort(step.causes.begin(), step.causes.end(), [](const CauseChange& a, const CauseChange& b) {
    return std::abs(a.change_ns()) > std::abs(b.change_ns());
  });
  return step;
}

}  // namespace lockstep::analyzer
