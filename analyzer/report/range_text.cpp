#include "analyzer/report/range_text.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>

#include "base/time_math.h"

namespace lockstep::analyzer {

namespace {

struct Unit {
  std::string_view name;
  int digits;  // decimals down to a nanosecond
};
constexpr std::array<Unit, 5> kUnits{{{"ns", 0}, {"us", 3}, {"µs", 3}, {"ms", 6}, {"s", 9}}};

Error wrong(std::string_view text, const char* why) {
  return Error{fmt::format("'{}' is not a time: {}; write for example 1.5ms, 250us or 1200 (ns)", text, why)};
}

}  // namespace

Result<Nanoseconds> parse_time(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (negative) rest.remove_prefix(1);
  int decimals = 0;
  std::size_t number_end = rest.find_first_not_of("0123456789.");
  if (number_end == std::string_view::npos) number_end = rest.size();
  const std::string_view unit_text = rest.substr(number_end);
  std::string_view number = rest.substr(0, number_end);
  if (!unit_text.empty()) {
    bool known = false;
    for (const Unit& unit : kUnits) {
      if (unit.name != unit_text) continue;
      decimals = unit.digits;
      known = true;
    }
    if (!known) return wrong(text, "the unit must be ns, us, ms or s");
  }
  std::string digits;
  const std::size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? std::string_view{} : number.substr(point + 1);
  if (whole.empty() || fraction.find('.') != std::string_view::npos ||
      (point != std::string_view::npos && fraction.empty())) {
    return wrong(text, "a number must come first");
  }
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (fraction.size() > static_cast<std::size_t>(decimals))
    return wrong(text, "nothing is finer than a nanosecond");
  digits.append(whole).append(fraction).append(static_cast<std::size_t>(decimals) - fraction.size(), '0');
  __int128 value = 0;
  for (const char digit : digits) {
    value = value * 10 + (digit - '0');
    if (value > std::numeric_limits<Nanoseconds>::max()) return wrong(text, "it is more than 292 years");
  }
  return static_cast<Nanoseconds>(negative ? -value : value);
}

Result<TimeSpan> parse_range(std::string_view text, Nanoseconds origin) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return Error{fmt::format("'{}' is not a range: write BEGIN:END, for example 1.5ms:3ms", text)};
  }
  const Result<Nanoseconds> begin = parse_time(text.substr(0, colon));
  if (!begin.ok()) return begin.error();
  const Result<Nanoseconds> end = parse_time(text.substr(colon + 1));
  if (!end.ok()) return end.error();
  if (begin.value() == end.value())
    return Error{fmt::format("the range '{}' is empty: it ends where it begins", text)};
  if (begin.value() > end.value()) return Error{fmt::format("the range '{}' ends before it begins", text)};
  return TimeSpan{saturating_add(origin, begin.value()), saturating_add(origin, end.value())};
}

}  // namespace lockstep::analyzer
