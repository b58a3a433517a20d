#include "analyzer/comparison/difference.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace lockstep::analyzer {
namespace {

// Of the mean of a side that counts `factor` times.
double variance_of_mean(double deviation, std::size_t runs, double factor) {
  return factor * factor * deviation * deviation / static_cast<double>(runs);
}

}  // namespace

Difference difference(const Sample& head, const Sample& base, double factor) {
  Difference result{.estimate = head.mean - factor * base.mean};
  if (!head.deviation && !base.deviation) return result;
  const double of_head = variance_of_mean(head.deviation ? *head.deviation : *base.deviation, head.runs, 1);
  const double of_base =
      variance_of_mean(base.deviation ? *base.deviation : *head.deviation, base.runs, factor);
  result.standard_error = std::sqrt(of_head + of_base);
  // A side of one run adds nothing to what is known of the spread.
  if (!head.deviation || !base.deviation) {
    result.degrees = static_cast<double>((head.deviation ? head.runs : base.runs) - 1);
    return result;
  }
  const double fourth = of_head * of_head / static_cast<double>(head.runs - 1) +
                        of_base * of_base / static_cast<double>(base.runs - 1);
  const double whole = of_head + of_base;
  result.degrees =
      fourth > 0 ? std::max(1.0, whole * whole / fourth) : static_cast<double>(head.runs + base.runs - 2);
  return result;
}

Difference difference_from(const Sample& sample, double bound) {
  Difference result{.estimate = sample.mean - bound};
  if (!sample.deviation) return result;
  result.standard_error = std::sqrt(variance_of_mean(*sample.deviation, sample.runs, 1));
  result.degrees = static_cast<double>(sample.runs - 1);
  return result;
}

std::optional<double> chance_as_low(const Difference& difference) {
  if (!difference.standard_error) return std::nullopt;
  if (*difference.standard_error == 0)
    return difference.estimate == 0 ? 0.5 : (difference.estimate < 0 ? 0.0 : 1.0);
  return boost::math::cdf(boost::math::students_t(difference.degrees),
                          difference.estimate / *difference.standard_error);
}

std::optional<double> chance_as_high(const Difference& difference) {
  return chance_as_low({-difference.estimate, difference.standard_error, difference.degrees});
}

double student_quantile(double probability, double degrees) {
  return boost::math::quantile(boost::math::students_t(degrees), probability);
}

std::optional<double> lower_bound(const Difference& difference, double confidence) {
  if (!difference.standard_error) return std::nullopt;
  if (*difference.standard_error == 0) return difference.estimate;
  return difference.estimate - student_quantile(confidence, difference.degrees) * *difference.standard_error;
}

std::optional<double> upper_bound(const Difference& difference, double confidence) {
  const std::optional<double> bound =
      lower_bound({-difference.estimate, difference.standard_error, difference.degrees}, confidence);
  return bound ? std::optional(-*bound) : std::nullopt;
}

}  // namespace lockstep::analyzer
