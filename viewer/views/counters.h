// Counters as plots show them: along which ticks, and no more points than there are pixels.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/job.h"
#include "viewer/timeline/time_axis.h"
#include "viewer/timeline/timeline.h"
#include "viewer/views/axis_limits.h"

namespace lockstep::viewer {

struct ValueTick {
  double value = 0;
  std::string label;
};
// At round distances (1, 2, 5 · 10^k of a unit that fits), at most `most` of them, with as many decimals as
// tell them apart.
std::vector<ValueTick> value_ticks(const AxisLimits& limits, const CounterUnit& unit, std::size_t most);

struct PlottedLine {
  std::vector<double> x;  // pixels of the axis
  std::vector<double> y;  // not a number: between two pieces of the line
};
// Through all that the counter was in each pixel (counter_columns.h); `end`: the run's. Costs the pixels.
PlottedLine plot_line(const CounterSeries& counter, const TimeAxis& axis, Nanoseconds end);

// Of all lines' finite values, with some room, so that a line at the edge can be seen; of one value, around
// it.
AxisLimits value_limits(const std::vector<PlottedLine>& lines);

}  // namespace lockstep::viewer
