// A counter's course in pixels: what it was in each column, however many points that holds.
#pragma once

#include <vector>

#include "viewer/timeline/time_axis.h"
#include "viewer/timeline/timeline.h"

namespace lockstep::viewer {

// Pixels [left, right) in which the counter took the values of `range`: columns in which it was told, a pixel
// wide, and between them stretches in which it kept one value. Pixels in which nobody knows it are in none.
struct CounterColumn {
  double left = 0;
  double right = 0;
  ValueRange range;
  bool operator==(const CounterColumn&) const = default;
};

// From left to right, within the axis. A value holds until the next point, the last one until `end`; or since
// the point before it (CounterUnit::holds_before). Costs the pixels, and the logarithm of the points.
std::vector<CounterColumn> counter_columns(const CounterSeries& counter, const TimeAxis& axis,
                                           Nanoseconds end);

}  // namespace lockstep::viewer
