#include "tracer/inject/control/step_times.h"

#include <algorithm>

namespace lockstep::tracer::control {

std::int64_t StepTimes::median() const {
  const std::size_t known = std::min(count_, kRemembered);
  if (known < kNeeded) return 0;
  std::array<std::int64_t, kRemembered> sorted = durations_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(known / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(known));
  return *middle;
}

bool StepTimes::begin(std::int64_t number, trace::Nanoseconds time, double factor) {
  const bool first = begin_ == trace::kUnknownTime;
  const trace::Nanoseconds before = begin_;
  const std::int64_t ended = number_;
  begin_ = time;
  number_ = number;
  if (first || time < before) return false;
  const std::int64_t usual = median();
  last_duration_ = time - before;
  last_number_ = ended;
  durations_[count_++ % kRemembered] = last_duration_;
  return usual > 0 && static_cast<double>(last_duration_) >= factor * static_cast<double>(usual);
}

}  // namespace lockstep::tracer::control
