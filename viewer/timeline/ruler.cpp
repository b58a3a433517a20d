// Ticks and their labels.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/timeline/time_axis.h"

namespace lockstep::viewer {

namespace {

using Wide = __int128;

struct Unit {
  std::int64_t ns;
  const char* name;
};
constexpr std::array<Unit, 4> kUnits{{{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "µs"}, {1, "ns"}}};

Wide floor_divide(Wide value, Wide by) {
  const Wide quotient = value / by;
  return value % by < 0 ? quotient - 1 : quotient;
}

// The unit in which a quantity of this size has one to three digits before the point.
Unit unit_for(Wide magnitude) {
  for (const Unit& unit : kUnits) {
    if (magnitude >= unit.ns) return unit;
  }
  return kUnits.back();
}

// `value` ns in `unit`, with as many decimals as `step` needs.
std::string text(Wide value, Unit unit, std::int64_t step, bool sign) {
  int decimals = 0;
  std::int64_t last_digit = unit.ns;
  for (; last_digit > step; last_digit /= 10) ++decimals;
  const Wide magnitude = value < 0 ? -value : value;
  const auto whole = static_cast<std::uint64_t>(magnitude / unit.ns);
  const auto fraction = static_cast<std::uint64_t>(magnitude % unit.ns / last_digit);
  const char* prefix = value < 0 ? "−" : (sign ? "+" : "");
  if (decimals == 0) return fmt::format("{}{} {}", prefix, whole, unit.name);
  return fmt::format("{}{}.{:0{}} {}", prefix, whole, fraction, decimals, unit.name);
}

// The smallest of 1, 2, 5 · 10^k that is at least `least`.
std::int64_t round_step(double least) {
  std::int64_t power = 1;
  while (power <= 100'000'000'000'000'000) {
    for (const std::int64_t digit : {1, 2, 5}) {
      if (static_cast<double>(power * digit) >= least) return power * digit;
    }
    power *= 10;
  }
  return 5'000'000'000'000'000'000;
}

}  // namespace

Ruler make_ruler(const TimeAxis& axis, Nanoseconds origin, double spacing) {
  const std::int64_t step = round_step(axis.ns_per_pixel() * spacing);
  // Five small steps between labels, or four where a step of 2 · 10^k has no whole fifth.
  const std::int64_t parts = step % 5 == 0 ? 5 : (step % 4 == 0 ? 4 : (step % 2 == 0 ? 2 : 1));
  const std::int64_t small = step / parts;

  const TimeRange visible = axis.visible();
  const Wide first = floor_divide(Wide{visible.begin} - origin, small) * small;
  const Wide last = Wide{visible.end} - origin;
  const Wide largest = std::max(first < 0 ? -first : first, last < 0 ? -last : last);

  Ruler ruler;
  Wide base = 0;
  Unit unit = unit_for(largest);
  // Whole labels while they need no more than six digits; then a common base, and labels that count from it.
  if (largest / step >= 1'000'000) {
    std::int64_t round = 1'000;
    while (round < last - first && round < 1'000'000'000'000'000'000) round *= 1'000;
    base = floor_divide(first, round) * round;
    ruler.base = text(base, unit, round, false);
    unit = unit_for(last - base);
  }
  for (Wide at = first; at <= last; at += small) {
    const Wide time = at + origin;
    if (time < visible.begin || time > visible.end) continue;
    Tick tick;
    tick.x = axis.x(static_cast<Nanoseconds>(time));
    tick.labelled = at % step == 0;
    if (tick.labelled) tick.label = at == 0 && base == 0 ? "0" : text(at - base, unit, step, base != 0);
    ruler.ticks.push_back(std::move(tick));
  }
  return ruler;
}

}  // namespace lockstep::viewer
