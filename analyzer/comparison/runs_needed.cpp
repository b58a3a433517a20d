#include "analyzer/comparison/runs_needed.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "analyzer/comparison/difference.h"

namespace lockstep::analyzer {
namespace {

constexpr double kDecidedShare = 0.9;
constexpr int kSpreads = 32;  // points of the distribution of the true spread

// What `more` runs add to one side's part of the difference. Of the mean of all runs, seen from the present:
// it will lie around the present mean, with variance `moves`, and then be known to `remains`.
struct Outlook {
  double moves = 0, remains = 0;
};

Outlook outlook(const Sample& side, double deviation, double factor, double more) {
  if (side.runs == 0) return {};
  const auto runs = static_cast<double>(side.runs);
  const double variance = factor * factor * deviation * deviation;
  return {variance * more / (runs * (runs + more)), variance / (runs + more)};
}

}  // namespace

Sureness sureness_among(double false_alarms, double confidence, double share_of_weights) {
  return {.worse = 1 - false_alarms * share_of_weights, .within = confidence};
}

std::optional<double> chance_of_verdict(const Excess& excess, const Sureness& sureness, std::size_t more) {
  const Difference& now = excess.beyond;
  if (!now.standard_error) return std::nullopt;
  if (*now.standard_error == 0) return now.estimate == 0 ? 0.0 : 1.0;
  const double head_deviation = excess.head.deviation ? *excess.head.deviation : *excess.base.deviation;
  const double base_deviation = excess.base.deviation ? *excess.base.deviation : head_deviation;
  const auto added = static_cast<double>(more);
  const Outlook head = outlook(excess.head, head_deviation, 1, added);
  const Outlook base = outlook(excess.base, base_deviation, excess.factor, added);
  // Each further run tells more of the spread as well.
  const double degrees = now.degrees + added * (excess.base.runs == 0 ? 1 : 2);
  const double for_worse = student_quantile(sureness.worse, degrees),
               for_within = student_quantile(sureness.within, degrees);
  const boost::math::normal normal;
  const boost::math::chi_squared spreads(now.degrees);
  double chance = 0;
  for (int i = 0; i < kSpreads; ++i) {
    // The true variance in units of the one seen.
    const double scale = now.degrees / boost::math::quantile(spreads, (i + 0.5) / kSpreads);
    const double moves = std::sqrt(scale * (head.moves + base.moves));
    // What the later runs will take for the spread lies between the one seen and the true one.
    const double seen = (now.degrees + (degrees - now.degrees) * scale) / degrees;
    const double error = std::sqrt(seen * (head.remains + base.remains));
    const double beyond_worse = now.estimate - for_worse * error,
                 beyond_within = -now.estimate - for_within * error;
    if (moves == 0) {
      chance += beyond_worse > 0 || beyond_within > 0 ? 1.0 / kSpreads : 0;
      continue;
    }
    chance +=
        (boost::math::cdf(normal, beyond_worse / moves) + boost::math::cdf(normal, beyond_within / moves)) /
        kSpreads;
  }
  return std::min(1.0, chance);
}

std::optional<std::size_t> runs_needed(const Excess& excess, const Sureness& sureness) {
  const auto enough = [&](std::size_t more) {
    return chance_of_verdict(excess, sureness, more).value_or(0) >= kDecidedShare;
  };
  if (!enough(kMaxMoreRuns)) return std::nullopt;
  // The chance grows with the runs.
  std::size_t too_few = 0, settles = kMaxMoreRuns;
  while (settles - too_few > 1) {
    const std::size_t middle = (too_few + settles) / 2;
    (enough(middle) ? settles : too_few) = middle;
  }
  return settles;
}

}  // namespace lockstep::analyzer
