// By how much the runs of one side differ from those of another, and how sure that is: Welch's test (B. L.
// Welch, 1947), which does not ask that both vary alike. All of it is one-sided: a gate asks whether a figure
// grew, not whether it moved.
#pragma once

#include <optional>

#include "analyzer/comparison/sample.h"

namespace lockstep::analyzer {

struct Difference {
  double estimate = 0;
  // Absent where neither side has two runs: nobody knows what it varies by.
  std::optional<double> standard_error = std::nullopt;
  double degrees = 0;  // of freedom, by Welch and Satterthwaite; at least 1
};

// mean(head) - factor * mean(base). Both have a run at least. Where one side has a single run, it is taken to
// vary as the other does.
Difference difference(const Sample& head, const Sample& base, double factor = 1);
// mean(sample) - bound, of one run at least.
Difference difference_from(const Sample& sample, double bound);

// The chance that a difference whose true value is 0 comes out as high as this one; its negative: as low. 0
// or 1 where nothing varies, 0.5 where the estimate is 0 as well; absent where the standard error is.
std::optional<double> chance_as_high(const Difference& difference);
std::optional<double> chance_as_low(const Difference& difference);

// The true value lies above the first (below the second) with this confidence, 0.5 to 1; absent where the
// standard error is.
std::optional<double> lower_bound(const Difference& difference, double confidence);
std::optional<double> upper_bound(const Difference& difference, double confidence);

// The quantile of Student's t at `probability` (above 0, below 1), for degrees of freedom of at least 1.
double student_quantile(double probability, double degrees);

}  // namespace lockstep::analyzer
