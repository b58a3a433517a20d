#include "viewer/timeline/counter_columns.h"

#include <algorithm>
#include <cmath>

namespace lockstep::viewer {

namespace {

class Walk {
 public:
  Walk(const CounterSeries& counter, const TimeAxis& axis)
      : counter_(counter), axis_(axis), left_(std::floor(axis.left)), right_(axis.left + axis.width) {}

  std::vector<CounterColumn> all(Nanoseconds end) {
    const std::span<const analyzer::CounterPoint> points = counter_.points;
    const TimeRange visible = axis_.visible();
    std::size_t at = first_from(visible.begin);
    double known_to = left_;
    while (at < points.size() && points[at].time <= visible.end) {
      // Rounding may put the last ones there; nothing of them is seen.
      if (axis_.x(points[at].time) >= right_) break;
      const double column = std::clamp(std::floor(axis_.x(points[at].time)), left_, right_);
      keep(known_to, column, at);
      const std::size_t next = first_beyond(at, column);
      ValueRange range = range_of(points, counter_.blocks, at, next);
      // What it had at the column's begin, or at its end.
      if (const auto also = kept_before(counter_.unit.holds_before ? next : at)) range.add(*also);
      push(column, column + 1, range);
      known_to = column + 1;
      at = next;
    }
    keep(known_to, at < points.size() ? right_ : std::min(right_, std::ceil(axis_.x(end))), at);
    return std::move(columns_);
  }

 private:
  std::size_t first_from(Nanoseconds time) const {
    return static_cast<std::size_t>(
        std::partition_point(counter_.points.begin(), counter_.points.end(),
                             [time](const analyzer::CounterPoint& point) { return point.time < time; }) -
        counter_.points.begin());
  }

  // After `from`, by where points are drawn: rounding a column's end to a time would split it.
  std::size_t first_beyond(std::size_t from, double column) const {
    const auto begin = counter_.points.begin();
    return static_cast<std::size_t>(
        std::partition_point(
            begin + static_cast<std::ptrdiff_t>(from) + 1, counter_.points.end(),
            [&](const analyzer::CounterPoint& point) { return std::floor(axis_.x(point.time)) <= column; }) -
        begin);
  }

  // The value between point `at` and the one before it.
  std::optional<double> kept_before(std::size_t at) const {
    if (at == 0) return std::nullopt;
    if (!counter_.unit.holds_before) return counter_.points[at - 1].value;
    if (at == counter_.points.size()) return std::nullopt;
    return counter_.points[at].value;
  }

  void keep(double from, double to, std::size_t before) {
    const auto value = kept_before(before);
    if (!value || from >= to) return;
    ValueRange range;
    range.add(*value);
    push(from, to, range);
  }

  void push(double from, double to, const ValueRange& range) {
    to = std::min(to, right_);
    if (range.empty() || from >= to) return;
    columns_.push_back({from, to, range});
  }

  const CounterSeries& counter_;
  const TimeAxis& axis_;
  double left_, right_;
  std::vector<CounterColumn> columns_;
};

}  // namespace

std::vector<CounterColumn> counter_columns(const CounterSeries& counter, const TimeAxis& axis,
                                           Nanoseconds end) {
  return Walk(counter, axis).all(end);
}

}  // namespace lockstep::viewer
