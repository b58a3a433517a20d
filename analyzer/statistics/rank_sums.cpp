#include "analyzer/statistics/rank_sums.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace lockstep::analyzer {
namespace {

constexpr double kMaxDigits = 250;
constexpr double kMaxWork = 1e7;

double log_choices(double count, double few) {
  return std::lgamma(count + 1) - std::lgamma(few + 1) - std::lgamma(count - few + 1);
}

// How many choices exceed the least sum by 0, 1, … `most`: partitions into `few` parts of count − few at most
// (coefficients of the Gaussian binomial, factor by factor).
std::vector<double> partitions(std::size_t count, std::size_t few, std::size_t most) {
  std::vector<double> ways(most + 1, 0);
  ways[0] = 1;
  for (std::size_t part = 1; part <= few; ++part) {
    const std::size_t above = count - few + part;
    for (std::size_t sum = most; sum >= above && sum > 0; --sum) ways[sum] -= ways[sum - above];
    for (std::size_t sum = part; sum <= most; ++sum) ways[sum] += ways[sum - part];
  }
  return ways;
}

}  // namespace

double chance_of_rank_sum(std::size_t count, std::size_t few, std::int64_t sum) {
  if (few == 0 || few > count) return 1;
  const auto n = static_cast<double>(count), k = static_cast<double>(few);
  const auto over = static_cast<double>(sum) - k * (k - 1) / 2;
  if (over < 0) return 0;
  if (over >= k * (n - k)) return 1;
  if (log_choices(n, k) < kMaxDigits * std::numbers::ln10 && over * k < kMaxWork) {
    const std::vector<double> ways = partitions(count, few, static_cast<std::size_t>(over));
    const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
    return std::min(1.0, std::exp(std::log(all) - log_choices(n, k)));
  }
  const double deviation = std::sqrt(k * (n - k) * (n + 1) / 12);
  return std::erfc((k * (n - k) / 2 - over - 0.5) / deviation / std::numbers::sqrt2) / 2;
}

}  // namespace lockstep::analyzer
