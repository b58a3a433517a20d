#include "analyzer/lateness/growth.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

// What grows, step by step.
using Series = std::vector<std::int64_t>;

// Of the steps from `first` on, before `end`.
std::int64_t median_of(const Series& series, std::size_t first, std::size_t end) {
  return lower_median(Series(series.begin() + static_cast<std::ptrdiff_t>(first),
                             series.begin() + static_cast<std::ptrdiff_t>(end)));
}

Growth by_thirds(const Series& series) {
  const std::size_t third = series.size() / 3;
  return {median_of(series, 0, third), median_of(series, series.size() - third, series.size())};
}

}  // namespace

std::optional<Growth> growth_of(const StepTable& table, std::int32_t rank, std::optional<Cause> cause) {
  constexpr std::size_t kLeastThird = 3, kMostParts = 6;
  const std::size_t steps = table.steps.size(), index = table.index_of(rank), third = steps / 3;
  if (third < kLeastThird || index >= table.rank_count() || table.ranks[index] != rank) return std::nullopt;
  Series late, longer;
  for (std::size_t step = 0; step < steps; ++step) {
    late.push_back(table.late(step, index));
    longer.push_back(cause ? excess_by_cause(table, step, index)[static_cast<std::size_t>(*cause)]
                           : late.back());
  }
  const Growth growth = by_thirds(longer), of_lateness = by_thirds(late);
  if (growth.last_third_ns <= 0 || growth.last_third_ns / 3 < growth.first_third_ns / 2) return std::nullopt;
  if (of_lateness.last_third_ns <= of_lateness.first_third_ns) return std::nullopt;
  const std::size_t parts = std::min(kMostParts, third);
  std::vector<std::int64_t> medians;
  for (std::size_t part = 0; part < parts; ++part)
    medians.push_back(median_of(longer, steps * part / parts, steps * (part + 1) / parts));
  std::size_t pairs = 0, rising = 0;
  for (std::size_t later = 1; later < parts; ++later)
    for (std::size_t before = 0; before < later; ++before) {
      ++pairs;
      rising += medians[later] > medians[before] ? 1 : 0;
    }
  return 7 * rising >= 6 * pairs ? std::optional(growth) : std::nullopt;
}

}  // namespace lockstep::analyzer
