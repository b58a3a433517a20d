// Binary search that starts beside a guess: what lies near is found with few reads, all of them near.
#pragma once

#include <algorithm>
#include <cstddef>

namespace lockstep::viewer {

// The first of [from, end) for which `before` does not hold, or end. `before(i)` holds for all up to there
// and for none behind. The answer is looked for about `step` behind `from` first: O(log) of how far that is
// off.
template <class Before>
std::size_t gallop(std::size_t from, std::size_t end, std::size_t step, const Before& before) {
  step = std::max<std::size_t>(step, 1);
  while (end - from > step && before(from + step)) {
    from += step + 1;
    step *= 2;
  }
  std::size_t size = std::min(step, end - from);
  while (size > 0) {
    const std::size_t half = size / 2;
    if (before(from + half)) {
      from += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return from;
}

}  // namespace lockstep::viewer
