#include "analyzer/figures/figure.h"

#include <fmt/format.h>

#include <cmath>

#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {

const char* to_string(Unit unit) {
  switch (unit) {
    case Unit::nanoseconds:
      return "ns";
    case Unit::share:
      return "share";
    case Unit::per_second:
      return "1/s";
    case Unit::gigabytes_per_second:
      return "GB/s";
    case Unit::bytes:
      return "bytes";
    case Unit::count:
      break;
  }
  return "count";
}

std::string format_figure(double value, Unit unit) {
  switch (unit) {
    case Unit::nanoseconds:
      return format_duration(std::llround(value));
    case Unit::share:
      return fmt::format("{:.1f} %", value * 100);
    case Unit::per_second:
      return fmt::format("{:.3g} /s", value);
    case Unit::gigabytes_per_second:
      return format_bandwidth(value);
    case Unit::bytes:
      return format_bytes(std::llround(value));
    case Unit::count:
      break;
  }
  return fmt::format("{}", std::llround(value));
}

}  // namespace lockstep::analyzer
