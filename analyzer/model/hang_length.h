// When an operation that nobody saw end counts as hung, where no recorder noted a hang.
#pragma once

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// At least this long, and this many times as long as the longest that ended: a job may be killed in the midst
// of any.
inline constexpr Nanoseconds kHungAfter = 5'000'000'000;
inline constexpr Nanoseconds kHungTimesTheLongest = 10;

inline bool is_as_long_as_a_hang(Nanoseconds waited, Nanoseconds longest) {
  return waited >= kHungAfter && waited / kHungTimesTheLongest >= longest;
}

}  // namespace lockstep::analyzer
