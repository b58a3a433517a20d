#include "analyzer/lateness/standing_out.h"

#include <algorithm>
#include <cstddef>

#include "analyzer/statistics/autocorrelation.h"
#include "analyzer/statistics/standard_error.h"

namespace lockstep::analyzer {

double errors_wanted(double deviation, std::size_t steps) {
  // Between them in a straight line. Chosen by the recordings of noise that rules may be tuned with
  // (docs/statistics.md).
  constexpr double kQuiet = 0.05, kNoisy = 0.30;  // deviation of single steps, of a step
  constexpr double kOfMany = 3.7, kMost = 8;
  constexpr std::size_t kOfLine = 2;
  // Of few steps the error is not known well either: the first term by which quantiles of Student's
  // distribution exceed those of the normal one, z + (z³ + z)/(4ν).
  const double freedom = static_cast<double>(std::max(steps, kOfLine + 1) - kOfLine);
  const double least = std::min(kMost, kOfMany + kOfMany * (kOfMany * kOfMany + 1) / (4 * freedom));
  return least + (kMost - least) * std::clamp((deviation - kQuiet) / (kNoisy - kQuiet), 0.0, 1.0);
}

bool stands_out(const std::vector<double>& series, double correlation, double step_ns) {
  // Of fewer steps nobody can say how they hang together, nor of so few independent ones what their mean
  // varies by.
  constexpr std::size_t kLeastSteps = 16;
  constexpr double kLeastIndependent = 3;
  return series.size() >= kLeastSteps && effective_count(series.size(), correlation) >= kLeastIndependent &&
         mean_in_standard_errors(series, correlation) >=
             errors_wanted(deviation_around_trend(series) / step_ns, series.size());
}

}  // namespace lockstep::analyzer
