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

double longest_span(TimeRange content) {
  const double length = static_cast<double>(distance(content.begin, content.end));
  return std::clamp(length * (1 + 2 * kMargin), kSmallestSpan, kLongest);
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

Nanoseconds saturating_add(Nanoseconds time, double amount) {
  constexpr double kMost = 3e19;  // more than from one end of int64 to the other
  const __int128 sum = __int128{time} + static_cast<__int128>(std::clamp(amount, -kMost, kMost));
  return static_cast<Nanoseconds>(std::clamp(sum, __int128{kMin}, __int128{kMax}));
}

TimeView fit(TimeRange range, double margin) {
  const double length = static_cast<double>(distance(range.begin, range.end));
  TimeView view{range.begin, 0, std::min(std::max(length * (1 + 2 * margin), kSmallestSpan), kLongest)};
  return moved(view, -(view.span - length) / 2);
}

TimeView zoom(const TimeView& view, double position, double factor, TimeRange content) {
  const double longest = longest_span(content);
  // As far out as possible is everything, wherever the pointer is.
  if (factor > 1 && view.span * factor >= longest) return fit(content, kMargin);
  const double span = std::clamp(view.span * factor, kSmallestSpan, longest);
  TimeView result = moved(view, position * (view.span - span));
  result.span = span;
  return clamp(result, content);
}

TimeView pan(const TimeView& view, double share, TimeRange content) {
  return clamp(moved(view, std::clamp(share * view.span, -kLongest, kLongest)), content);
}

TimeView clamp(const TimeView& view, TimeRange content) {
  TimeView result = view;
  result.span = std::clamp(view.span, kSmallestSpan, longest_span(content));
  // At least half of the view shows content; so either end of it can be brought to the middle.
  const double lowest = -result.span / 2;
  const double highest = static_cast<double>(distance(content.begin, content.end)) - result.span / 2;
  const double begin = difference(result.begin, content.begin) + result.fraction;
  if (begin >= lowest && begin <= highest) return result;
  result.begin = content.begin;
  result.fraction = 0;
  return moved(result, begin < lowest ? lowest : highest);
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
