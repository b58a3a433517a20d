// The Universal Scalability Law (N. J. Gunther, 1993): of n times as many ranks the capacity is
// n / (1 + σ (n − 1) + κ n (n − 1)), σ being what is serial or contended, κ what grows with every pair of
// ranks.
#pragma once

#include <optional>
#include <span>

namespace lockstep::analyzer {

struct Capacity {
  double times_ranks = 1;  // of the smallest size
  double capacity = 1;     // throughput, as a multiple of the smallest size's
};

struct SpeedupLaw {
  double contention = 0, coherency = 0;  // σ and κ; not negative
  double worst_error = 0;                // of a size: |fitted - measured| / measured
  double at(double times_ranks) const;
  // From how many times the smallest size on more ranks make it slower; absent where none do.
  std::optional<double> peak() const;
};

// Least squares of n / capacity - 1. Absent of fewer than five sizes: with two parameters, three or four
// would fit whatever was measured.
std::optional<SpeedupLaw> speedup_law(std::span<const Capacity> sizes);

}  // namespace lockstep::analyzer
