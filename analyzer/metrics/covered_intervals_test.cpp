#include "analyzer/metrics/covered_intervals.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace lockstep::analyzer {
namespace {

TEST(CoveredIntervals, CountEachInstantOnce) {
  CoveredIntervals waits;
  waits.add({0, 10}, 0, 4);  // [6, 10) is covered
  waits.add({8, 20}, 2, 2);
  waits.add({9, 12}, 3, 1);    // within the second
  waits.add({30, 40}, 5, 10);  // all of it, and one instant between
  waits.add({25, 25}, 4, 0);
  const CoveredIntervals::Union sum = std::move(waits).unite();
  EXPECT_EQ(sum.ns, 30);
  EXPECT_EQ(sum.covered_ns, 14);
}

TEST(CoveredIntervals, NoneAreNothing) {
  const CoveredIntervals::Union sum = CoveredIntervals{}.unite();
  EXPECT_EQ(sum.ns, 0);
  EXPECT_EQ(sum.covered_ns, 0);
}

// Whatever lies how, as the sets themselves say it.
TEST(CoveredIntervals, AgreeWithSets) {
  std::mt19937 random(7);
  const auto any = [&random](std::int64_t most) { return static_cast<std::int64_t>(random()) % most; };
  const auto some = [&any](std::size_t count) {
    std::vector<Interval> intervals(count);
    for (Interval& one : intervals) {
      one.begin = any(200);
      one.end = one.begin + any(30);
    }
    return intervals;
  };
  for (int round = 0; round < 200; ++round) {
    const IntervalSet compute = IntervalSet::from(some(static_cast<std::size_t>(any(12))));
    const std::vector<Interval> intervals = some(static_cast<std::size_t>(any(12)));
    const CoverageIndex index(compute);
    CoveredIntervals covered;
    for (const Interval& one : intervals)
      covered.add(one, index.before(one.begin), index.within(one.begin, one.end));
    const CoveredIntervals::Union sum = std::move(covered).unite();
    const IntervalSet all = IntervalSet::from(intervals);
    ASSERT_EQ(sum.ns, all.measure());
    ASSERT_EQ(sum.covered_ns, intersect(all, compute).measure());
  }
}

}  // namespace
}  // namespace lockstep::analyzer
