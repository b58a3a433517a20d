#include "viewer/views/counters.h"

#include <algorithm>
#include <cmath>


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

PlottedLine plot_line(std::span<const analyzer::CounterPoint> points, const CounterUnit& unit,
                      const TimeAxis& axis, Nanoseconds until, std::size_t most) {
  const TimeRange range = axis.visible();
  const auto from =
      std::partition_point(points.begin(), points.end(),
                           [&](const analyzer::CounterPoint& point) { return point.time < range.begin; });
  const auto to = std::partition_point(
      from, points.end(), [&](const analyzer::CounterPoint& point) { return point.time <= range.end; });
  const auto first = static_cast<std::size_t>(from == points.begin() ? 0 : from - points.begin() - 1);
  const auto last = std::min(static_cast<std::size_t>(to - points.begin()) + 1, points.size());
  PlottedLine line;
  const auto add = [&](const analyzer::CounterPoint& point) {
    line.x.push_back(std::clamp(axis.x(point.time), axis.left - axis.width, axis.left + 2 * axis.width));
    line.y.push_back(point.value);
  };
  const std::size_t stretches = std::max<std::size_t>(most / 2, 1);
  const std::size_t each = std::max<std::size_t>(1, (last - first + stretches - 1) / stretches);
  for (std::size_t i = first; i < last; i += each) {
    const auto stretch = points.subspan(i, std::min(each, last - i));
    const auto [least, greatest] = std::minmax_element(
        stretch.begin(), stretch.end(),
        [](const analyzer::CounterPoint& a, const analyzer::CounterPoint& b) { return a.value < b.value; });
    add(least < greatest ? *least : *greatest);
    if (least != greatest) add(least < greatest ? *greatest : *least);
  }
  if (!unit.holds_before && last == points.size() && last > 0 && points.back().time < until)
    add({until, points.back().value});
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
