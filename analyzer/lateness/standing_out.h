// Does what a rank is late by stand out of how it moves from step to step?
#pragma once

#include <cstddef>
#include <vector>

namespace lockstep::analyzer {

// So many of its standard errors (standard_error.h) the mean has to lie above 0 where steps vary by
// `deviation`, a share of a step, in a run of so many `steps`. More where they vary by much: such a machine
// has slow stretches that are longer than a recording, and within one a rank looks slow throughout. And more
// in few steps, by Student's distribution.
double errors_wanted(double deviation, std::size_t steps);

// Whether the mean of `series`, in ns of each step, lies so far above 0; steps hang together by `correlation`
// and take `step_ns`. Of fewer than 16 steps, or what is worth fewer than 3 independent ones, nothing does.
bool stands_out(const std::vector<double>& series, double correlation, double step_ns);

}  // namespace lockstep::analyzer
