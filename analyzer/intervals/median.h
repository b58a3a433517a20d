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

// For each value the lower median of all the others. Precondition: there are two values or more.
// O(n log n).
template <class T>
std::vector<T> lower_medians_of_others(const std::vector<T>& values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const std::size_t middle = (values.size() - 2) / 2;  // of one value fewer
  std::vector<T> medians(values.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    medians[order[place]] = values[order[place <= middle ? middle + 1 : middle]];
  return medians;
}

// By how much each value exceeds the lower median of all the others. As above.
template <class T>
std::vector<T> excess_over_others(std::vector<T> values) {
  const std::vector<T> typical = lower_medians_of_others(values);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= typical[i];
  return values;
}

}  // namespace lockstep::analyzer
