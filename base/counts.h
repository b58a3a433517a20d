// How many of what, for people.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

// "1,234,567" of the digits of a number, which may begin with a minus sign.
std::string group_thousands(std::string digits);

template <std::integral Number>
std::string format_count(Number count) {
  return group_thousands(std::to_string(count));
}

// "1 rank", "1,024 ranks"; `noun` takes an s in the plural.
template <std::integral Number>
std::string format_plural(Number count, std::string_view noun) {
  return format_count(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

// "1 process was", "3 processes were".
template <std::integral Number>
std::string format_plural(Number count, std::string_view one, std::string_view many) {
  return format_count(count).append(" ").append(count == 1 ? one : many);
}

// "1st", "22nd", "113th"
std::string format_ordinal(std::int64_t number);

}  // namespace lockstep
