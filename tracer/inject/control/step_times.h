// How long steps take, from the times at which they begin: the median of the last few, and whether one was
// much longer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/events/event.h"

namespace lockstep::tracer::control {

class StepTimes {
 public:
  static constexpr std::size_t kRemembered = 64;
  // Before this many steps no median is trusted: the first ones warm up.
  static constexpr std::size_t kNeeded = 5;

  // A step begins at `time`. True if the one before took `factor` times the median of those before it, or
  // more.
  bool begin(std::int64_t number, trace::Nanoseconds time, double factor);
  // Of the remembered steps; 0 where there are too few.
  std::int64_t median() const;
  std::int64_t last_duration() const { return last_duration_; }
  std::int64_t last_number() const { return last_number_; }

 private:
  std::array<std::int64_t, kRemembered> durations_{};
  std::size_t count_ = 0;
  std::int64_t number_ = 0;
  trace::Nanoseconds begin_ = trace::kUnknownTime;
  std::int64_t last_duration_ = 0;
  std::int64_t last_number_ = 0;
};

}  // namespace lockstep::tracer::control
