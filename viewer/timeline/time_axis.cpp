#include "viewer/timeline/time_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::viewer {

namespace {

constexpr Nanoseconds kMin = std::numeric_limits<Nanoseconds>::min();
constexpr Nanoseconds kMax = std::numeric_limits<Nanoseconds>::max();
// Spans and distances stay below this, so that they can be added and subtracted without care.
constexpr double kLongest = 1.9e19;

// a - b as a double, exact while it fits 53 bits.
double difference(Nanoseconds a, Nanoseconds b) {
  return a >= b ? static_cast<double>(distance(b, a)) : -static_cast<double>(distance(a, b));
}

TimeView moved(const TimeView& view, double amount) {
  const double exact = view.fraction + amount;
  const double whole = std::floor(exact);
  TimeView result = view;
  result.begin = saturating_add(view.begin, whole);
  result.fraction = std::clamp(exact - whole, 0.0, std::nextafter(1.0, 0.0));
  return result;
}

}  // namespace

Nanoseconds saturating_add(Nanoseconds time, Nanoseconds amount) {
  Nanoseconds sum = 0;
  if (__builtin_add_overflow(time, amount, &sum)) return amount > 0 ? kMax : kMin;
  return sum;
}

Nanoseconds saturating_add(Nanoseconds time, double amount) {
  // In two halves: from one end of int64 to the other is more than an int64 holds.
  constexpr double kHalf = 9.2e18;
  const double first = std::clamp(amount, -kHalf, kHalf);
  const double rest = std::clamp(amount - first, -kHalf, kHalf);
  return saturating_add(saturating_add(time, static_cast<Nanoseconds>(first)),
                        static_cast<Nanoseconds>(rest));
}

TimeView fit(TimeRange range, double margin) {
  const double length = static_cast<double>(distance(range.begin, range.end));
  TimeView view{range.begin, 0, std::min(std::max(length * (1 + 2 * margin), kSmallestSpan), kLongest)};
  return moved(view, -(view.span - length) / 2);
}

TimeView zoom(const TimeView& view, double position, double factor, TimeRange content) {
  const double longest =
      std::max(static_cast<double>(distance(content.begin, content.end)) * (1 + 2 * kMargin), kSmallestSpan);
  const double span = std::clamp(view.span * factor, kSmallestSpan, std::min(longest, kLongest));
  TimeView result = moved(view, position * (view.span - span));
  result.span = span;
  return clamp(result, content);
}

TimeView pan(const TimeView& view, double share, TimeRange content) {
  return clamp(moved(view, std::clamp(share * view.span, -kLongest, kLongest)), content);
}

TimeView clamp(const TimeView& view, TimeRange content) {
  const double length = static_cast<double>(distance(content.begin, content.end));
  const double longest = std::max(length * (1 + 2 * kMargin), kSmallestSpan);
  TimeView result = view;
  result.span = std::clamp(view.span, kSmallestSpan, std::min(longest, kLongest));
  // A tenth of the view, at least, shows content.
  const double slack = std::max(length * kMargin, result.span * 0.9);
  const double before = difference(result.begin, content.begin) + result.fraction;
  const double lowest = -slack;
  const double highest = length + slack - result.span;
  if (before < lowest) {
    result.begin = content.begin;
    result.fraction = 0;
    return moved(result, lowest);
  }
  if (before > std::max(highest, lowest)) {
    result.begin = content.begin;
    result.fraction = 0;
    return moved(result, std::max(highest, lowest));
  }
  return result;
}

double TimeAxis::x(Nanoseconds time) const {
  return left + (difference(time, view.begin) - view.fraction) / ns_per_pixel();
}

Nanoseconds TimeAxis::time(double x) const {
  return saturating_add(view.begin, std::floor((x - left) * ns_per_pixel() + view.fraction));
}

TimeRange TimeAxis::visible() const {
  return {view.begin, saturating_add(view.begin, std::ceil(view.span + view.fraction))};
}

}  // namespace lockstep::viewer
