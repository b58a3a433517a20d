#include "analyzer/figures/parse_figure.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>

#include "analyzer/report/range_text.h"
#include "base/numbers.h"

namespace lockstep::analyzer {
namespace {

struct Suffix {
  std::string_view text;
  double times = 1;
};
constexpr auto kShares = std::to_array<Suffix>({{"%", 0.01}});
constexpr auto kRates = std::to_array<Suffix>({{"/s", 1}});
constexpr auto kBandwidths = std::to_array<Suffix>({{"GB/s", 1}, {"MB/s", 1e-3}});
constexpr auto kBytes = std::to_array<Suffix>({{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}});

std::span<const Suffix> suffixes(Unit unit) {
  switch (unit) {
    case Unit::share:
      return kShares;
    case Unit::per_second:
      return kRates;
    case Unit::gigabytes_per_second:
      return kBandwidths;
    case Unit::bytes:
      return kBytes;
    case Unit::nanoseconds:
    case Unit::count:
      break;
  }
  return {};
}

const char* example(Unit unit) {
  switch (unit) {
    case Unit::nanoseconds:
      return "\"412 ms\"";
    case Unit::share:
      return "\"86 %\" or 0.86";
    case Unit::per_second:
      return "\"2.4 /s\"";
    case Unit::gigabytes_per_second:
      return "\"12.5 GB/s\"";
    case Unit::bytes:
      return "\"2 GB\"";
    case Unit::count:
      break;
  }
  return "7";
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Result<double> parse_figure(std::string_view text, Unit unit) {
  std::string_view left = trimmed(text);
  const Error wrong{fmt::format("'{}' is no figure; write for instance {}", text, example(unit))};
  const std::optional<double> read = take_number<double>(left);
  if (!read || !std::isfinite(*read)) return wrong;
  const double number = *read;
  const std::string_view ending = trimmed(left);
  if (unit == Unit::nanoseconds) {
    const std::string_view digits = trimmed(text).substr(0, trimmed(text).size() - left.size());
    const Result<Nanoseconds> time = parse_time(std::string(digits) + std::string(ending));
    return time.ok() ? Result<double>(static_cast<double>(time.value())) : wrong;
  }
  if (ending.empty()) return number;
  for (const Suffix& known : suffixes(unit))
    if (known.text == ending) return number * known.times;
  return wrong;
}

Result<double> parse_share(std::string_view text) {
  Result<double> share = parse_figure(text, Unit::share);
  if (share.ok() && share.value() < 0) return Error{fmt::format("'{}' is below 0", text)};
  return share;
}

}  // namespace lockstep::analyzer
