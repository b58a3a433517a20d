// Walks several interval sets at once and says, for each stretch of time, which of them cover it.
//
//   sweep<2>({&compute, &communication}, begin, end,
//            [&](Nanoseconds from, Nanoseconds to, unsigned covered) { if (covered == 3) overlap += to -
//            from; });
//
// The stretches are in order, not empty, touch each other and cover [begin, end) exactly. Bit i of `covered`
// stands for sets[i]. Neighbouring stretches differ in at least one bit. O(log n + the intervals within the
// range · N).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "analyzer/intervals/interval_set.h"

namespace lockstep::analyzer {

template <std::size_t N, class Visitor>
void sweep(const std::array<const IntervalSet*, N>& sets, Nanoseconds begin, Nanoseconds end,
           Visitor&& visit) {
  static_assert(N > 0 && N <= 32);
  constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
  std::array<const Interval*, N> at{};       // the interval that covers now, or the next one
  std::array<Nanoseconds, N> next_change{};  // when the set's bit flips
  unsigned covered = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const std::vector<Interval>& intervals = sets[i]->intervals();
    at[i] = intervals.data() + sets[i]->first_ending_after(begin);
    const Interval* last = intervals.data() + intervals.size();
    if (at[i] == last) {
      next_change[i] = kNever;
    } else if (at[i]->begin <= begin) {
      covered |= 1u << i;
      next_change[i] = at[i]->end;
    } else {
      next_change[i] = at[i]->begin;
    }
  }
  Nanoseconds now = begin;
  while (now < end) {
    Nanoseconds until = end;
    for (std::size_t i = 0; i < N; ++i) until = std::min(until, next_change[i]);
    visit(now, until, covered);
    now = until;
    if (now >= end) return;
    for (std::size_t i = 0; i < N; ++i) {
      if (next_change[i] != now) continue;
      const Interval* last = sets[i]->intervals().data() + sets[i]->intervals().size();
      if ((covered >> i & 1u) != 0) {
        ++at[i];  // the next one begins later: intervals of a set never touch
        next_change[i] = at[i] == last ? kNever : at[i]->begin;
      } else {
        next_change[i] = at[i]->end;
      }
      covered ^= 1u << i;
    }
  }
}

}  // namespace lockstep::analyzer
