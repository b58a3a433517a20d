#include "analyzer/steady_steps.h"

#include <vector>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kLeastSteps = 4;

}  // namespace

std::optional<std::int64_t> first_steady_step(std::span<const StepLength> steps) {
  if (steps.size() < kLeastSteps) return std::nullopt;
  std::vector<std::int64_t> lengths;
  for (const StepLength& step : steps) lengths.push_back(step.ns);
  const std::int64_t median = lower_median(std::move(lengths));
  std::size_t first = 0;
  while (first < steps.size() / 2 && steps[first].ns > median + median / 2) ++first;
  if (first == 0) return std::nullopt;
  return steps[first].step;
}

}  // namespace lockstep::analyzer
