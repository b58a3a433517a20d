#include "viewer/views/counters.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "viewer/timeline/counter_columns.h"

namespace lockstep::viewer {

namespace {

// The smallest of 1, 2, 5 · 10^k that is at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double digit : {1.0, 2.0, 5.0})
    if (power * digit >= least) return power * digit;
  return power * 10;
}

}  // namespace

std::vector<ValueTick> value_ticks(const AxisLimits& limits, const CounterUnit& unit, std::size_t most) {
  std::vector<ValueTick> ticks;
  if (most == 0) return ticks;
  const CounterScale scale = scale_for(std::max(std::abs(limits.low), std::abs(limits.high)), unit);
  const double low = limits.low / scale.size, high = limits.high / scale.size;
  double step = round_step((high - low) / static_cast<double>(most));
  // One too many where the range begins and ends at ticks.
  if (std::floor(high / step) - std::ceil(low / step) >= static_cast<double>(most))
    step = round_step(step * 1.5);
  const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 9);
  const double first = std::ceil(low / step);
  for (std::size_t i = 0; i < most; ++i) {
    const double at = (first + static_cast<double>(i)) * step;
    if (!(at <= high)) break;
    ticks.push_back({at * scale.size, format_number(at, decimals) + scale.name + unit.suffix});
  }
  return ticks;
}

PlottedLine plot_line(const CounterSeries& counter, const TimeAxis& axis, Nanoseconds end) {
  PlottedLine line;
  const auto add = [&line](double x, double y) {
    line.x.push_back(x);
    line.y.push_back(y);
  };
  double known_to = 0;
  for (const CounterColumn& column : counter_columns(counter, axis, end)) {
    if (!line.x.empty() && column.left > known_to) add(column.left, std::numeric_limits<double>::quiet_NaN());
    add(column.left, column.range.low);
    // Of several values all stand above each other; one is kept over its pixels.
    if (column.range.low == column.range.high)
      add(column.right, column.range.high);
    else
      add(column.left, column.range.high);
    known_to = column.right;
  }
  return line;
}

AxisLimits value_limits(const std::vector<PlottedLine>& lines) {
  double low = 0, high = 0;
  bool any = false;
  for (const PlottedLine& line : lines) {
    for (const double value : line.y) {
      if (!std::isfinite(value)) continue;
      low = any ? std::min(low, value) : value;
      high = any ? std::max(high, value) : value;
      any = true;
    }
  }
  const double room = (high > low ? high - low : std::abs(high)) * 0.05;
  return any ? axis_limits(low - room, high + room) : AxisLimits{};
}

}  // namespace lockstep::viewer
