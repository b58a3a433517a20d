#include "analyzer/diagnose/periodic_lateness.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/intervals/median.h"
#include "analyzer/intervals/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kLeastTimes = 3;

}  // namespace

std::optional<PeriodicLateness> periodic_lateness(
    const Report& report, std::int32_t rank, const std::function<bool(const CollectiveReport&)>& counts) {
  std::map<std::int64_t, std::int64_t> waited;  // by step
  for (const StepReport& step : report.steps) waited[step.step];
  for (const CollectiveReport& collective : report.collectives) {
    if (collective.last_arriver != rank || !collective.step || !counts(collective)) continue;
    const auto step = waited.find(*collective.step);
    if (step != waited.end()) step->second = saturating_add(step->second, collective.wait_ns);
  }
  std::int64_t worst = 0;
  for (const auto& [step, ns] : waited) worst = std::max(worst, ns);
  if (worst == 0) return std::nullopt;
  std::vector<std::size_t> places;  // of the late steps
  std::vector<std::int64_t> late, otherwise;
  PeriodicLateness result;
  std::size_t place = 0;
  for (const auto& [step, ns] : waited) {
    if (ns >= worst / 2) {
      if (places.empty()) result.first = step;
      places.push_back(place);
      late.push_back(ns);
    } else {
      otherwise.push_back(ns);
    }
    ++place;
  }
  if (places.size() < kLeastTimes || otherwise.empty()) return std::nullopt;
  const std::size_t period = places[1] - places[0];
  if (period < 2) return std::nullopt;
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i] - places[i - 1] != period) return std::nullopt;
  // Where the first or the last of the recording would have been late as well, it is another rhythm.
  if (places.front() >= period || waited.size() - 1 - places.back() >= period) return std::nullopt;
  result.period = static_cast<std::int64_t>(period);
  result.times = static_cast<std::int64_t>(places.size());
  result.late_ns = lower_median(std::move(late));
  result.otherwise_ns = lower_median(std::move(otherwise));
  if (4 * result.otherwise_ns > result.late_ns) return std::nullopt;
  return result;
}

}  // namespace lockstep::analyzer
