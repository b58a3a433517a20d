#include "tests/accuracy/rates.h"

#include <cmath>

namespace lockstep::accuracy {
namespace {

// P(X <= k) of a binomial distribution, summed as it is written: n is some ten thousands at most.
double at_most(std::int64_t k, std::int64_t n, double rate) {
  double sum = 0;
  for (std::int64_t i = 0; i <= k; ++i) {
    const double log_of = std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(i) + 1) -
                          std::lgamma(static_cast<double>(n - i) + 1) +
                          static_cast<double>(i) * std::log(rate) +
                          static_cast<double>(n - i) * std::log1p(-rate);
    sum += std::exp(log_of);
  }
  return sum;
}

}  // namespace

double upper_bound(std::int64_t k, std::int64_t n, double confidence) {
  if (k >= n) return 1;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (at_most(k, n, middle) > 1 - confidence ? low : high) = middle;
  }
  return high;
}

double lower_bound(std::int64_t k, std::int64_t n, double confidence) {
  return 1 - upper_bound(n - k, n, confidence);
}

}  // namespace lockstep::accuracy
