// Sorting large elements by a small key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep {

// Stable: elements with equal keys stay in their order. Compares and moves copies of the keys and moves each
// element but once, in place: std::stable_sort moves them over and over, and wants half of their memory
// again. `key_of` returns a value. Precondition: fewer than 2³² elements.
template <class T, class KeyOf>
void stable_sort_by_key(std::vector<T>& values, KeyOf key_of) {
  const auto before = [&](const T& a, const T& b) { return key_of(a) < key_of(b); };
  if (std::is_sorted(values.begin(), values.end(), before)) return;
  struct Place {
    decltype(key_of(values.front())) key;
    std::uint32_t index;
  };
  std::vector<Place> places;
  places.reserve(values.size());
  for (const T& value : values) places.push_back({key_of(value), static_cast<std::uint32_t>(places.size())});
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.key < b.key; });
  // At each place belongs what stands at its index: the elements move in cycles.
  for (std::uint32_t first = 0; first < places.size(); ++first) {
    if (places[first].index == first) continue;
    T displaced = std::move(values[first]);
    std::uint32_t to = first;
    while (places[to].index != first) {
      const std::uint32_t from = std::exchange(places[to].index, to);
      values[to] = std::move(values[from]);
      to = from;
    }
    values[to] = std::move(displaced);
    places[to].index = to;
  }
}

}  // namespace lockstep
