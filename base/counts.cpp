#include "base/counts.h"

namespace lockstep {

std::string group_thousands(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

}  // namespace lockstep
