// Intervals of one rank that may overlap, of each of which it is known how much of it a set covers: how long
// they are together, and how much of that the set covers, each instant once. The set itself isn't needed.
//
//   CoveredIntervals waits;
//   waits.add({0, 10}, 0, 4);   // compute covers 4 of it: [6, 10)
//   waits.add({8, 20}, 2, 2);   // 2 lie before it, and 2 under it: the same ones
//   std::move(waits).unite();   // 20 long, of which 4 are covered
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/intervals/interval_set.h"

namespace lockstep::analyzer {

class CoveredIntervals {
 public:
  // `before_ns`: how much of the set lies before the interval, from any instant on that is the same for all;
  // `covered_ns`: how much lies within it.
  void add(Interval interval, std::int64_t before_ns, std::int64_t covered_ns) {
    if (interval.begin < interval.end) intervals_.push_back({interval, before_ns, before_ns + covered_ns});
  }

  struct Union {
    std::int64_t ns = 0, covered_ns = 0;
  };
  Union unite() &&;  // O(n log n)

 private:
  struct One {
    Interval interval;
    std::int64_t before_begin_ns, before_end_ns;  // how much of the set lies before these
  };
  std::vector<One> intervals_;
};

}  // namespace lockstep::analyzer
