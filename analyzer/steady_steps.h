// Which steps at the beginning of a recording are warm-up: compilation, caches, memory pools, autotuning.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace lockstep::analyzer {

struct StepLength {
  std::int64_t step = 0;
  std::int64_t ns = 0;  // of the rank that took longest
};

// The first step that is as long as steps of this job are: the steps before it took more than half as long
// again as the median step each. Never past half of the steps: a job that is slow for that long is slow.
// Nothing where there are fewer than four steps, or the first one is no warm-up. `steps` in order.
std::optional<std::int64_t> first_steady_step(std::span<const StepLength> steps);

}  // namespace lockstep::analyzer
