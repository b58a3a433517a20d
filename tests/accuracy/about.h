// Durations and sizes that vary from job to job.
#pragma once

#include <cstddef>

#include "analyzer/diagnose/test_reports.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {

// Around `typical` microseconds, in ns.
inline analyzer::Nanoseconds about(Random& random, analyzer::Nanoseconds typical) {
  return static_cast<analyzer::Nanoseconds>(static_cast<double>(typical * analyzer::us) *
                                            random.uniform(0.8, 1.2));
}

// Both included, in the unit of both.
inline analyzer::Nanoseconds between(Random& random, analyzer::Nanoseconds least,
                                     analyzer::Nanoseconds most) {
  return least + static_cast<analyzer::Nanoseconds>(random.below(static_cast<std::size_t>(most - least + 1)));
}

}  // namespace lockstep::accuracy
