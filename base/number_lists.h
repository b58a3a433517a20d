// Lists of numbers, of ranks mostly, for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

// "0, 1, 2"; of more than `most` the first and "…".
std::string list_numbers(std::span<const std::int32_t> numbers, std::size_t most);

// "0–3, 8": of sorted numbers, neighbours as a range. `dash` is what stands between its ends.
std::string number_ranges(std::span<const std::int32_t> numbers, std::string_view dash = "–");

}  // namespace lockstep
