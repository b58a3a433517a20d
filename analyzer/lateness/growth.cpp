#include "analyzer/lateness/growth.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

// Of the steps from `first` on, before `end`.
std::int64_t median_of(const StepTable& table, std::size_t rank, std::size_t first, std::size_t end) {
  std::vector<std::int64_t> late;
  for (std::size_t step = first; step < end; ++step) late.push_back(table.late(step, rank));
  return lower_median(std::move(late));
}

}  // namespace

std::optional<Growth> growth_of(const StepTable& table, std::int32_t rank) {
  constexpr std::size_t kLeastThird = 3, kMostParts = 6;
  const std::size_t steps = table.steps.size(), index = table.index_of(rank), third = steps / 3;
  if (third < kLeastThird || index >= table.rank_count() || table.ranks[index] != rank) return std::nullopt;
  const Growth growth{median_of(table, index, 0, third), median_of(table, index, steps - third, steps)};
  if (growth.last_third_ns <= 0 || growth.last_third_ns / 3 < growth.first_third_ns / 2) return std::nullopt;
  const std::size_t parts = std::min(kMostParts, third);
  std::vector<std::int64_t> medians;
  for (std::size_t part = 0; part < parts; ++part)
    medians.push_back(median_of(table, index, steps * part / parts, steps * (part + 1) / parts));
  std::size_t pairs = 0, rising = 0;
  for (std::size_t later = 1; later < parts; ++later)
    for (std::size_t before = 0; before < later; ++before) {
      ++pairs;
      rising += medians[later] > medians[before] ? 1 : 0;
    }
  return 7 * rising >= 6 * pairs ? std::optional(growth) : std::nullopt;
}

}  // namespace lockstep::analyzer
