// What a counter says, in words: its value at an instant, and in which unit.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/model/job.h"
#include "viewer/prepared/time_range.h"

namespace lockstep::viewer {

// What a counter's numbers are, as far as its name tells: "network eth0 sent (bytes/s)", "memory peak".
struct CounterUnit {
  enum class Kind { plain, bytes, share };
  Kind kind = Kind::plain;
  std::string suffix;  // behind the number and its kind's unit: "/s", " cores"
  // A value holds since the point before it (docs/host.md); else until the next one.
  bool holds_before = false;
};
CounterUnit unit_of(std::string_view counter);
// The name without its unit, which stands behind every number.
std::string title_of_counter(std::string_view counter);

// "61.1 MiB", "12.5 %", "3.20 k/s"; not finite: the report's sign for what is absent.
std::string format_value(double value, const CounterUnit& unit);

// The unit in which a number of this size has few digits.
struct CounterScale {
  double size = 1;
  std::string name;  // with the blank before it, if any
};
CounterScale scale_for(double magnitude, const CounterUnit& unit);
// With a minus sign, and no "−0".
std::string format_number(double value, int decimals);

// What the counter says at an instant; nothing before its first point, or after the last of one whose values
// hold before their points.
std::optional<double> value_at(std::span<const analyzer::CounterPoint> points, Nanoseconds time,
                               const CounterUnit& unit);

}  // namespace lockstep::viewer
