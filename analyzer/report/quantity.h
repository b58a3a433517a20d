// How numbers are written for people. Each function depends on the number alone, so that the same number
// looks the same wherever it stands. All rounding is to nearest, halves away from zero, in integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/counts.h"  // format_count, format_plural

namespace lockstep::analyzer {

// What stands where a value is absent: never a 0.
inline constexpr const char* kAbsent = "–";

// Three significant digits and the unit that suits: "0", "505 ns", "7.62 ms", "13.0 ms", "1.25 s", "4,211 s".
std::string format_duration(std::int64_t ns);
// A change: "+20.0 ms", "−1.25 s", "0".
std::string format_change(std::int64_t ns);
// By how much `b` differs from `a`: "+5.0 %", "−12.5 %", "3.2 times" of three times as much and more; ""
// where `a` is 0 or nothing changed.
std::string format_relative_change(std::int64_t a, std::int64_t b);

// `part` of `whole` as "96.5 %". Neither rounds to a wrong extreme: "< 0.1 %" and "> 99.9 %" where something,
// or something else, is left. `whole` 0: kAbsent.
std::string format_share(std::int64_t part, std::int64_t whole);
std::string format_share(std::optional<double> ratio);

// "2.00 MB", "512 B": powers of 1000, as bandwidths are.
std::string format_bytes(std::int64_t bytes);

// Gigabytes a second: "12.3 GB/s", "0.42 GB/s".
std::string format_bandwidth(std::optional<double> gigabytes_per_second);

// An estimate of a number to two digits: 38,000 of 37,609.
std::int64_t two_digits(std::int64_t count);

}  // namespace lockstep::analyzer
