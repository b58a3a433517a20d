// Stretches of time, in int64 nanoseconds.
#pragma once

#include <cstdint>

#include "trace/events/event.h"

namespace lockstep::viewer {

using trace::Nanoseconds;

// Closed interval of time; begin <= end.
struct TimeRange {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// end - begin for begin <= end, without overflow.
inline std::uint64_t distance(Nanoseconds begin, Nanoseconds end) {
  return static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
}

}  // namespace lockstep::viewer
