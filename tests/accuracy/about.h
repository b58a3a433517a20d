// Durations that vary from job to job.
#pragma once

#include "analyzer/diagnose/test_reports.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {

// Around `typical` microseconds, in ns.
inline analyzer::Nanoseconds about(Random& random, analyzer::Nanoseconds typical) {
  return static_cast<analyzer::Nanoseconds>(static_cast<double>(typical * analyzer::us) *
                                            random.uniform(0.8, 1.2));
}

}  // namespace lockstep::accuracy
