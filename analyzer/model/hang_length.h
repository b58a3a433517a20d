// When an operation that nobody saw end counts as hung, where no recorder noted a hang.
#pragma once

#include <limits>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// At least this long, and this many times as long as the longest that ended: a job may be killed in the midst
// of any.
inline constexpr Nanoseconds kHungAfter = 5'000'000'000;
inline constexpr Nanoseconds kHungTimesTheLongest = 10;

// A rank that ended this long before somebody interrupted the job did not end by that.
inline constexpr Nanoseconds kLongBeforeInterruption = 3'000'000'000;

inline bool is_as_long_as_a_hang(Nanoseconds waited, Nanoseconds longest) {
  return waited >= kHungAfter && waited / kHungTimesTheLongest >= longest;
}

// The rank's longest operation that ended: of those after the first step, if there are any, as ranks wait
// long for each other while a job starts. Of those alone that began before `before`.
Nanoseconds longest_operation(const RankTrace& rank,
                              Nanoseconds before = std::numeric_limits<Nanoseconds>::max());

}  // namespace lockstep::analyzer
