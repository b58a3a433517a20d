#include "base/number_lists.h"

#include <algorithm>

namespace lockstep {

std::string list_numbers(std::span<const std::int32_t> numbers, std::size_t most) {
  std::string text;
  for (const std::int32_t number : numbers.first(std::min(numbers.size(), most))) {
    if (!text.empty()) text += ", ";
    text += std::to_string(number);
  }
  return numbers.size() > most ? text + ", …" : text;
}

std::string number_ranges(std::span<const std::int32_t> numbers, std::string_view dash) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(numbers[first]);
    if (last > first) text.append(dash).append(std::to_string(numbers[last]));
    first = last + 1;
  }
  return text;
}

}  // namespace lockstep
