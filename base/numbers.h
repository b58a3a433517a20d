// Numbers in text, wherever it comes from: flags, variables of the environment, names of files, /proc. What
// is no number is nullopt; what to say of it is for the caller, who knows where it stands and what it may be.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace lockstep {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// One digit or more, and nothing else.
inline bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// The number at the beginning of `text`, which is taken away from it: a minus sign perhaps and digits of
// `base` (which is for integers; their prefixes, as 0x, are not read). nullopt, and `text` as it was, where
// there is none and where it does not fit into the type.
template <class Number>
std::optional<Number> take_number(std::string_view& text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_integral_v<Number>) {
    read = std::from_chars(text.data(), end, number, base);
  } else {
    read = std::from_chars(text.data(), end, number);
  }
  if (read.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

// `text` as a number: all of it, without blanks and without a plus sign. nullopt where it is none and where
// it is not from `least` to `most`; never infinite, never NaN.
template <class Number>
std::optional<Number> parse_number(std::string_view text,
                                   Number least = std::numeric_limits<Number>::lowest(),
                                   Number most = std::numeric_limits<Number>::max()) {
  const std::optional<Number> number = take_number<Number>(text);
  const bool fits = number && text.empty() && *number >= least && *number <= most;
  return fits ? number : std::nullopt;
}

}  // namespace lockstep
