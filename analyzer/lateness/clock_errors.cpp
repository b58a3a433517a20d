#include "analyzer/lateness/clock_errors.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lockstep::analyzer {

std::unordered_map<std::int32_t, std::int64_t> clock_errors(const Report& report) {
  std::unordered_map<std::int32_t, std::int64_t> errors;
  const std::vector<RankReport>& ranks = report.ranks;
  if (ranks.size() < 2) return errors;
  std::vector<const RankReport*> sorted;
  for (const RankReport& rank : ranks) sorted.push_back(&rank);
  std::sort(sorted.begin(), sorted.end(), [](const RankReport* a, const RankReport* b) {
    return a->clock.uncertainty_ns < b->clock.uncertainty_ns;
  });
  // Where the ranks of each clock stand in that order.
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> places;
  for (std::size_t place = 0; place < sorted.size(); ++place)
    places[sorted[place]->clock.domain].push_back(place);
  // Of the others those of the same clock come first, with nothing.
  const std::size_t middle = (ranks.size() - 2) / 2;
  for (const auto& [domain, own] : places) {
    const std::size_t same = own.size() - 1;
    if (middle < same) {
      for (const std::size_t place : own) errors[sorted[place]->rank] = 0;
      continue;
    }
    std::size_t other = middle - same;
    for (const std::size_t place : own) other += place <= other ? 1 : 0;
    for (const std::size_t place : own)
      errors[sorted[place]->rank] = sorted[place]->clock.uncertainty_ns + sorted[other]->clock.uncertainty_ns;
  }
  return errors;
}

}  // namespace lockstep::analyzer
