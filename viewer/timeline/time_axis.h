// The time axis: which stretch of time the pixels of a row show, and the operations that move it.
//
// Times stay int64 nanoseconds; only the distance to the left edge becomes a float. A distance that fits the
// screen at one nanosecond a pixel is exact in a double, so that an event at 1.7e18 ns lands on its pixel as
// well as one at 0. Everything saturates: no view and no event, however near the ends of int64, overflows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time_math.h"
#include "viewer/prepared/time_range.h"

namespace lockstep::viewer {

using lockstep::saturating_add;
// time + amount where the amount is a whole number in a double that may exceed int64.
Nanoseconds saturating_add(Nanoseconds time, double amount);

// What is shown, whatever the width in pixels: `span` ns from `begin` + `fraction` on. The fraction, in [0,
// 1), lets a view that is zoomed to single nanoseconds move by less than one.
struct TimeView {
  Nanoseconds begin = 0;
  double fraction = 0;
  double span = 1;
  bool operator==(const TimeView&) const = default;
};

// The narrowest view, in ns, and the room on both sides of the widest, as a share of the content's length.
inline constexpr double kSmallestSpan = 8;
inline constexpr double kMargin = 0.05;

// The view that shows the range with a little room on both sides.
TimeView fit(TimeRange range, double margin = 0.02);
// Zooms by `factor` (below 1: closer) so that the instant at `position`, 0 at the left edge and 1 at the
// right, stays.
TimeView zoom(const TimeView& view, double position, double factor, TimeRange content);
// Moves the view by a share of its span; positive shows later times.
TimeView pan(const TimeView& view, double share, TimeRange content);
// The nearest view that is neither too narrow nor lost beyond the content.
TimeView clamp(const TimeView& view, TimeRange content);

// A view on `width` pixels from `left` on.
struct TimeAxis {
  TimeView view;
  double left = 0;
  double width = 1;

  double ns_per_pixel() const { return view.span / width; }
  // Not limited to the visible pixels; finite.
  double x(Nanoseconds time) const;
  // The nanosecond in which the pixel lies (rounded down).
  Nanoseconds time(double x) const;
  // Times on screen, rounded outwards.
  TimeRange visible() const;
};

struct Tick {
  double x = 0;
  bool labelled = false;
  std::string label;
};

// Ticks at round distances (1, 2, 5 · 10^k ns) from `origin`, labelled at least `spacing` pixels apart.
struct Ruler {
  // What to add to every label, for views so close that whole labels would repeat twelve digits; "" if
  // nothing.
  std::string base;
  std::vector<Tick> ticks;
};
Ruler make_ruler(const TimeAxis& axis, Nanoseconds origin, double spacing);

}  // namespace lockstep::viewer
