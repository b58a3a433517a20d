#include "base/counts.h"

namespace lockstep {

std::string group_thousands(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string format_ordinal(std::int64_t number) {
  const std::int64_t tens = number / 10 % 10;
  const char* ending = "th";
  if (tens != 1) {
    if (number % 10 == 1) ending = "st";
    if (number % 10 == 2) ending = "nd";
    if (number % 10 == 3) ending = "rd";
  }
  return format_count(number) + ending;
}

}  // namespace lockstep
