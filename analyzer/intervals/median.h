// The lower median: of an even number of values the smaller of the two in the middle, so that it is one of
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lockstep::analyzer {

// Precondition: there is a value. O(n).
template <class T>
T lower_median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace lockstep::analyzer
