#include "analyzer/report/unsettled_lateness.h"

#include <algorithm>
#include <cmath>

#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr double kShare = 0.02;   // as kLeastLateness
constexpr double kToTell = 0.03;  // for which LatenessReport::steps_to_tell stands
constexpr double kChance = 0.02;
// What holds for these steps says little of a run that is longer by more than this.
constexpr std::int64_t kTimesAsMany = 20;

}  // namespace

std::optional<UnsettledLateness> unsettled_lateness(const LatenessReport& lateness) {
  UnsettledLateness unsettled;
  if (!lateness.can_tell) return std::nullopt;
  for (const RankLateness& rank : lateness.ranks) {
    if (rank.is_late) return std::nullopt;
    if (rank.share >= kShare && rank.chance <= kChance &&
        (unsettled.rank == nullptr || rank.share > unsettled.rank->share))
      unsettled.rank = &rank;
  }
  if (unsettled.rank == nullptr) return std::nullopt;
  const std::int64_t clock_error = unsettled.rank->clock_error_ns;
  unsettled.within_clock_error = clock_error > 0 && unsettled.rank->mean_ns <= clock_error;
  if (unsettled.within_clock_error) return unsettled;
  // Errors of a mean fall with the root of the number of steps. A rank that is late by little more than the
  // least also has to be seen above it.
  const double share = unsettled.rank->share;
  if (share <= kShare) return unsettled;
  const double smaller = std::max(kToTell / share, (kToTell - kShare) / (share - kShare));
  const std::int64_t wanted =
      two_digits(std::llround(static_cast<double>(lateness.steps_to_tell) * smaller * smaller));
  if (wanted > lateness.steps && wanted <= kTimesAsMany * lateness.steps) unsettled.steps_wanted = wanted;
  return unsettled;
}

double lateness_that_shows(const LatenessReport& lateness) {
  return kToTell * std::sqrt(std::max(1.0, static_cast<double>(lateness.steps_to_tell) /
                                               static_cast<double>(lateness.steps)));
}

}  // namespace lockstep::analyzer
