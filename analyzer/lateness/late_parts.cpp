#include "analyzer/lateness/late_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyzer/intervals/median.h"
#include "analyzer/statistics/place_sums.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kBlocks = 10;
// A cause counts where it is longer than the others' in at least this part of the blocks.
constexpr double kConsistent = 0.8;

std::int64_t mean_of(const StepTable& table, std::size_t rank, std::size_t cause) {
  const auto steps = static_cast<std::int64_t>(table.steps.size());
  std::int64_t sum = 0;
  for (std::size_t step = 0; step < table.steps.size(); ++step)
    sum += time_by_cause(table, step, rank, cause) / steps;
  return sum;
}

std::int64_t median_of_others(const StepTable& table, std::size_t rank, std::size_t cause) {
  std::vector<std::int64_t> others;
  for (std::size_t other = 0; other < table.rank_count(); ++other)
    if (other != rank) others.push_back(mean_of(table, other, cause));
  return lower_median(std::move(others));
}

}  // namespace

std::vector<LatePart> parts_of_lateness(const StepTable& table, std::size_t rank) {
  const std::size_t steps = table.steps.size();
  if (steps == 0) return {};
  const Blocks blocks = cut_into_blocks(steps, kBlocks);
  std::array<double, kCauseCount> all{};
  std::array<std::size_t, kCauseCount> longer{};
  for (std::size_t block = 0; block < blocks.count; ++block) {
    std::array<double, kCauseCount> sums{};
    for (std::size_t step = blocks.begin(block); step < blocks.end(block, steps); ++step) {
      const std::array<std::int64_t, kCauseCount> excess = excess_by_cause(table, step, rank);
      for (std::size_t cause = 0; cause < kCauseCount; ++cause)
        sums[cause] += static_cast<double>(excess[cause]);
    }
    for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
      all[cause] += sums[cause];
      longer[cause] += sums[cause] > 0 ? 1 : 0;
    }
  }
  std::vector<LatePart> parts;
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    const auto as_cause = static_cast<Cause>(cause);
    if (as_cause == Cause::barrier_wait || as_cause == Cause::pipeline_bubble) continue;
    const std::int64_t ns = std::llround(all[cause] / static_cast<double>(steps));
    if (ns <= 0 || static_cast<double>(longer[cause]) < kConsistent * static_cast<double>(blocks.count))
      continue;
    parts.push_back({as_cause, ns, median_of_others(table, rank, cause)});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const LatePart& a, const LatePart& b) { return a.ns > b.ns; });
  return parts;
}

LatePart time_beyond_others(const StepTable& table, std::size_t rank, Cause cause) {
  const auto index = static_cast<std::size_t>(cause);
  const std::int64_t others = median_of_others(table, rank, index);
  return {cause, mean_of(table, rank, index) - others, others};
}

}  // namespace lockstep::analyzer
