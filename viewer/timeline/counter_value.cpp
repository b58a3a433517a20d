#include "viewer/timeline/counter_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/report/quantity.h"
#include "viewer/timeline/lower_case.h"

namespace lockstep::viewer {

namespace {

using Kind = CounterUnit::Kind;

// The unit in parentheses at the name's end; "" where there is none.
std::string_view named_unit(std::string_view counter) {
  const std::size_t open = counter.rfind('(');
  if (open == std::string_view::npos || !counter.ends_with(')')) return {};
  return counter.substr(open + 1, counter.size() - open - 2);
}

}  // namespace

CounterScale scale_for(double magnitude, const CounterUnit& unit) {
  if (unit.kind == Kind::share) return {0.01, " %"};
  const bool bytes = unit.kind == Kind::bytes;
  static constexpr std::array<const char*, 6> kBinary{" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  static constexpr std::array<const char*, 5> kDecimal{"", " k", " M", " G", " T"};
  const double step = bytes ? 1024 : 1000;
  const std::size_t last = bytes ? kBinary.size() - 1 : kDecimal.size() - 1;
  // Numbers of four digits are read as they are.
  std::size_t at = 0;
  CounterScale scale;
  for (double next = bytes ? step : step * 10; magnitude >= next && at < last; next *= step) {
    scale.size *= step;
    ++at;
  }
  scale.name = bytes ? kBinary[at] : kDecimal[at];
  return scale;
}

std::string format_number(double value, int decimals) {
  // Beyond, digits mean nothing.
  if (std::abs(value) >= 1e15) return fmt::format("{:.3g}", value);
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return (value < 0 && !zero ? "−" : "") + text;
}

CounterUnit unit_of(std::string_view counter) {
  const std::string_view named = named_unit(counter);
  CounterUnit unit;
  unit.holds_before = named == "per s" || named.ends_with("/s") || named == "cores" || named == "share";
  if (named == "bytes") {
    unit.kind = Kind::bytes;
  } else if (named == "bytes/s") {
    unit.kind = Kind::bytes;
    unit.suffix = "/s";
  } else if (named == "share") {
    unit.kind = Kind::share;
  } else if (named == "per s") {
    unit.suffix = "/s";
  } else if (!named.empty()) {
    unit.suffix = " " + std::string(named);
  } else {
    // Programs' own counters have no unit in their names: memory is told in bytes.
    const std::string lower = lower_case(counter.substr(0, 400));
    if (lower.starts_with("memory") || lower.find("bytes") != std::string::npos) unit.kind = Kind::bytes;
  }
  return unit;
}

std::string title_of_counter(std::string_view counter) {
  if (!named_unit(counter).empty()) counter = counter.substr(0, counter.rfind('('));
  while (counter.ends_with(' ')) counter.remove_suffix(1);
  return std::string(counter);
}

std::string format_value(double value, const CounterUnit& unit) {
  if (!std::isfinite(value)) return analyzer::kAbsent;
  const CounterScale scale = scale_for(std::abs(value), unit);
  const double scaled = value / scale.size;
  const double magnitude = std::abs(scaled);
  int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  if (scale.size == 1) {
    // Counts have no decimals; small measures keep three digits.
    const bool whole = scaled == std::round(scaled);
    decimals = whole ? 0 : magnitude < 0.1 ? 5 : magnitude < 10 ? 3 : decimals;
  }
  return format_number(scaled, decimals) + scale.name + unit.suffix;
}

std::optional<double> value_at(std::span<const analyzer::CounterPoint> points, Nanoseconds time,
                               const CounterUnit& unit) {
  const auto after =
      std::partition_point(points.begin(), points.end(), [&](const analyzer::CounterPoint& point) {
        return unit.holds_before ? point.time < time : point.time <= time;
      });
  if (unit.holds_before) {
    // Before its first point nobody watched it.
    if (after == points.end() || (after == points.begin() && after->time != time)) return std::nullopt;
    return after->value;
  }
  if (after == points.begin()) return std::nullopt;
  return std::prev(after)->value;
}

}  // namespace lockstep::viewer
