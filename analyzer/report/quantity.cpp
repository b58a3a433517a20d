#include "analyzer/report/quantity.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace lockstep::analyzer {
namespace {

struct Unit {
  std::uint64_t size;
  const char* name;
};
constexpr std::array<Unit, 4> kTimeUnits{{{1, "ns"}, {1'000, "µs"}, {1'000'000, "ms"}, {1'000'000'000, "s"}}};
constexpr std::array<Unit, 5> kByteUnits{
    {{1, "B"}, {1'000, "kB"}, {1'000'000, "MB"}, {1'000'000'000, "GB"}, {1'000'000'000'000, "TB"}}};

// value / divisor, to nearest.
std::uint64_t divide_rounded(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor >= divisor - divisor / 2 ? 1 : 0);
}

// Three significant digits in the smallest unit in which the rounded number stays below 1000.
std::string three_digits(std::uint64_t value, std::span<const Unit> units) {
  if (value < 1000) return fmt::format("{} {}", value, units[0].name);
  for (const Unit& unit : units.subspan(1)) {
    for (const int decimals : {2, 1, 0}) {
      const std::uint64_t scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
      const std::uint64_t scaled = divide_rounded(value, unit.size / scale);
      if (scaled >= 1000) continue;
      return fmt::format("{:.{}f} {}", static_cast<double>(scaled) / static_cast<double>(scale), decimals,
                         unit.name);
    }
  }
  const Unit& last = units.back();
  return format_count(static_cast<std::int64_t>(divide_rounded(value, last.size))) + " " + last.name;
}

}  // namespace

std::string format_duration(std::int64_t ns) {
  if (ns == 0) return "0";
  // Negated as unsigned: the smallest int64 has no positive counterpart.
  const std::uint64_t magnitude =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}", ns < 0 ? "-" : "", three_digits(magnitude, kTimeUnits));
}

std::string format_change(std::int64_t ns) {
  if (ns == 0) return "0";
  const std::uint64_t magnitude =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return (ns > 0 ? "+" : "−") + three_digits(magnitude, kTimeUnits);
}

std::string format_relative_change(std::int64_t a, std::int64_t b) {
  constexpr double kTimes = 3;  // from there on a percentage says less than a factor
  if (a <= 0 || a == b) return "";
  const double ratio = static_cast<double>(b) / static_cast<double>(a);
  if (ratio >= kTimes) return fmt::format("{:.1f} times", ratio);
  const double percent = std::abs(ratio - 1) * 100;
  const char sign[] = "−";
  return fmt::format("{}{}", ratio > 1 ? "+" : sign,
                     percent < 0.05 ? "< 0.1 %" : fmt::format("{:.1f} %", percent));
}

std::string format_share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return kAbsent;
  return format_share(static_cast<double>(part) / static_cast<double>(whole));
}

std::string format_share(std::optional<double> ratio) {
  if (!ratio || !std::isfinite(*ratio)) return kAbsent;
  const double percent = *ratio * 100;
  if (percent > 0 && percent < 0.05) return "< 0.1 %";
  if (percent < 100 && percent >= 99.95) return "> 99.9 %";
  return fmt::format("{:.1f} %", percent);
}

std::string format_bytes(std::int64_t bytes) {
  if (bytes < 0) return kAbsent;
  return three_digits(static_cast<std::uint64_t>(bytes), kByteUnits);
}

std::string format_bandwidth(std::optional<double> gigabytes_per_second) {
  if (!gigabytes_per_second || !std::isfinite(*gigabytes_per_second)) return kAbsent;
  constexpr double kSmallest = 0.1;  // below, three digits need the smaller unit
  const bool mega = *gigabytes_per_second < kSmallest;
  const double value = *gigabytes_per_second * (mega ? 1000 : 1);
  const char* const unit = mega ? "MB/s" : "GB/s";
  if (value == 0) return "0 GB/s";
  if (value > 0 && value < 0.005) return fmt::format("< 0.01 {}", unit);
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::int64_t two_digits(std::int64_t count) {
  std::int64_t unit = 1;
  while (count / unit >= 100) unit *= 10;
  return (count + unit / 2) / unit * unit;
}

}  // namespace lockstep::analyzer
