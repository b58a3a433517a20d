#include "analyzer/comparison/chance_within.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "analyzer/comparison/difference.h"

namespace lockstep::analyzer {
namespace {

constexpr int kSpreads = 16;  // points of the distribution of what one side will seem to vary by

// The deviations that as many runs as `side` has will show, each as likely, of a true one of `times` its own.
std::vector<Sample> outlook(const Sample& side, double times) {
  if (side.runs < 2) return {side};
  const auto degrees = static_cast<double>(side.runs - 1);
  const boost::math::chi_squared spreads(degrees);
  std::vector<Sample> all;
  for (int i = 0; i < kSpreads; ++i) {
    Sample seen = side;
    *seen.deviation *= times * std::sqrt(boost::math::quantile(spreads, (i + 0.5) / kSpreads) / degrees);
    all.push_back(seen);
  }
  return all;
}

}  // namespace

double most_times_deviation(std::size_t runs, double confidence) {
  const auto degrees = static_cast<double>(runs - 1);
  return std::sqrt(degrees / boost::math::quantile(boost::math::chi_squared(degrees), 1 - confidence));
}

double chance_within(const Excess& excess, double confidence, double times) {
  const double error = times * *excess.beyond.standard_error;
  if (error == 0) return excess.beyond.estimate <= 0 ? 1 : 0;
  const std::vector<Sample> heads = outlook(excess.head, times), bases = outlook(excess.base, times);
  const boost::math::normal normal;
  double chance = 0;
  for (const Sample& head : heads)
    for (const Sample& base : bases) {
      Difference seen =
          base.runs == 0 ? difference_from(head, excess.allowance) : difference(head, base, excess.factor);
      if (base.runs > 0) seen.estimate -= excess.allowance;
      chance += boost::math::cdf(normal, -*upper_bound(seen, confidence) / error);
    }
  return chance / static_cast<double>(heads.size() * bases.size());
}

}  // namespace lockstep::analyzer
