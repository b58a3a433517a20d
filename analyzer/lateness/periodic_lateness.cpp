#include "analyzer/lateness/periodic_lateness.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/intervals/median.h"
#include "analyzer/lateness/late_ranks.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kLeastTimes = 3;

// Where the first or the last of the recording would have been late as well, it is another rhythm.
bool is_periodic(const std::vector<std::size_t>& places, std::size_t steps) {
  const std::size_t period = places[1] - places[0];
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i] - places[i - 1] != period) return false;
  return period >= 2 && places.front() < period && steps - 1 - places.back() < period;
}

}  // namespace

double chance_of_period(std::size_t steps, std::size_t times, std::size_t members) {
  if (times < 2 || steps < times) return 1;
  std::size_t ways = 0;
  for (std::size_t period = 2; (times - 1) * period < steps; ++period) {
    for (std::size_t first = 0; first < period; ++first) {
      const std::size_t last = first + (times - 1) * period;
      if (last < steps && steps - 1 - last < period) ++ways;
    }
  }
  if (ways == 0) return 0;
  const auto n = static_cast<double>(steps), k = static_cast<double>(times);
  const double log_choices = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  return std::exp(std::log(static_cast<double>(ways)) - log_choices -
                  (k - 1) * std::log(static_cast<double>(members)));
}

std::optional<PeriodicLateness> periodic_lateness(const StepTable& table) {
  if (table.late_ns.empty()) return std::nullopt;
  const auto worst = std::max_element(table.late_ns.begin(), table.late_ns.end());
  if (*worst <= 0) return std::nullopt;
  const auto at = static_cast<std::size_t>(worst - table.late_ns.begin());
  const std::size_t rank = at % table.rank_count(), steps = table.steps.size();
  std::vector<std::size_t> places;
  std::vector<std::int64_t> late, otherwise;
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t other = 0; other < table.rank_count(); ++other)
      if (other != rank && table.late(step, other) >= *worst / 2) return std::nullopt;
    const std::int64_t ns = table.late(step, rank);
    (ns >= *worst / 2 ? late : otherwise).push_back(ns);
    if (ns >= *worst / 2) places.push_back(step);
  }
  if (places.size() < kLeastTimes || otherwise.empty() || !is_periodic(places, steps)) return std::nullopt;
  PeriodicLateness found;
  found.chance = chance_of_period(steps, places.size(), table.rank_count());
  found.rank = table.ranks[rank];
  found.period = static_cast<std::int64_t>(places[1] - places[0]);
  found.first = table.steps[places.front()];
  found.worst = table.steps[at / table.rank_count()];
  found.times = static_cast<std::int64_t>(places.size());
  found.late_ns = lower_median(std::move(late));
  found.otherwise_ns = lower_median(std::move(otherwise));
  if (found.chance > kLatenessLevel || 4 * found.otherwise_ns > found.late_ns) return std::nullopt;
  return found;
}

}  // namespace lockstep::analyzer
