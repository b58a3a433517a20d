#include "analyzer/intervals/interval_set.h"

#include <gtest/gtest.h>

#include <bitset>
#include <limits>
#include <random>
#include <vector>

#include "analyzer/intervals/sweep.h"

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kFirst = std::numeric_limits<Nanoseconds>::min();
constexpr Nanoseconds kLast = std::numeric_limits<Nanoseconds>::max();

using Intervals = std::vector<Interval>;

TEST(IntervalSet, MergesWhatOverlapsOrTouches) {
  const IntervalSet set = IntervalSet::from({{10, 20}, {0, 5}, {5, 8}, {15, 30}, {40, 50}});
  EXPECT_EQ(set.intervals(), (Intervals{{0, 8}, {10, 30}, {40, 50}}));
  EXPECT_EQ(set.measure(), 38);
}

TEST(IntervalSet, EmptyAndReversedIntervalsCoverNothing) {
  const IntervalSet set = IntervalSet::from({{5, 5}, {9, 3}, {7, 7}});
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.measure(), 0);
  IntervalSet appended;
  appended.append(5, 5);
  appended.append(9, 3);
  EXPECT_TRUE(appended.empty());
}

TEST(IntervalSet, AnEmptyIntervalDoesNotJoinItsNeighbours) {
  const IntervalSet set = IntervalSet::from({{0, 4}, {5, 5}, {6, 8}});
  EXPECT_EQ(set.intervals(), (Intervals{{0, 4}, {6, 8}}));
}

TEST(IntervalSet, AppendEqualsFrom) {
  IntervalSet appended;
  for (const Interval i : Intervals{{0, 9}, {2, 3}, {2, 12}, {12, 13}, {20, 21}})
    appended.append(i.begin, i.end);
  EXPECT_EQ(appended.intervals(), (Intervals{{0, 13}, {20, 21}}));
}

TEST(IntervalSet, EndsAreHalfOpen) {
  const IntervalSet set = IntervalSet::from({{10, 20}});
  EXPECT_FALSE(set.contains(9));
  EXPECT_TRUE(set.contains(10));
  EXPECT_TRUE(set.contains(19));
  EXPECT_FALSE(set.contains(20));
}

TEST(IntervalSet, TheWholeRangeOfTimeDoesNotOverflow) {
  const IntervalSet all = IntervalSet::from({{kFirst, kLast}});
  EXPECT_EQ(all.measure(), kLast);  // saturated
  EXPECT_EQ(all.measure_within(kFirst, kLast), kLast);
  EXPECT_EQ(all.measure_within(-3, 4), 7);
  const IntervalSet ends = IntervalSet::from({{kFirst, kFirst + 2}, {kLast - 3, kLast}});
  EXPECT_EQ(ends.measure(), 5);
  EXPECT_EQ(subtract(all, ends).intervals(), (Intervals{{kFirst + 2, kLast - 3}}));
  EXPECT_EQ(intersect(all, ends), ends);
  EXPECT_EQ(unite(all, ends), all);
  EXPECT_EQ(CoverageIndex(ends).within(kFirst, kLast), 5);
  std::int64_t covered = 0;
  sweep<1>({&ends}, kFirst, kLast, [&](Nanoseconds begin, Nanoseconds end, unsigned mask) {
    if (mask != 0) covered += end - begin;
  });
  EXPECT_EQ(covered, 5);
}

// The oracle: one bit per nanosecond of a small range.
constexpr int kRange = 96;
using Bits = std::bitset<kRange>;

Bits bits_of(const Intervals& intervals) {
  Bits bits;
  for (const Interval& interval : intervals) {
    for (Nanoseconds t = interval.begin; t < interval.end; ++t) bits.set(static_cast<std::size_t>(t));
  }
  return bits;
}

bool is_canonical(const IntervalSet& set) {
  for (std::size_t i = 0; i < set.intervals().size(); ++i) {
    if (set.intervals()[i].begin >= set.intervals()[i].end) return false;
    if (i > 0 && set.intervals()[i].begin <= set.intervals()[i - 1].end) return false;
  }
  return true;
}

class IntervalProperties : public testing::TestWithParam<unsigned> {
 protected:
  Intervals random_intervals() {
    Intervals intervals(random_() % 12);
    for (Interval& interval : intervals) {
      interval.begin = static_cast<Nanoseconds>(random_() % kRange);
      // Some are empty, some reversed.
      interval.end =
          std::min<Nanoseconds>(kRange, interval.begin + static_cast<Nanoseconds>(random_() % 20) - 2);
      if (interval.end < 0) interval.end = 0;
    }
    return intervals;
  }
  Nanoseconds random_time() { return static_cast<Nanoseconds>(random_() % (kRange + 1)); }
  std::mt19937 random_{GetParam()};
};

void expect_equals(const IntervalSet& set, const Bits& bits) {
  EXPECT_TRUE(is_canonical(set));
  EXPECT_EQ(bits_of(set.intervals()), bits);
  EXPECT_EQ(set.measure(), static_cast<std::int64_t>(bits.count()));
}

TEST_P(IntervalProperties, OperationsEqualBitOperations) {
  for (int round = 0; round < 200; ++round) {
    const Intervals raw_a = random_intervals(), raw_b = random_intervals();
    const IntervalSet a = IntervalSet::from(raw_a), b = IntervalSet::from(raw_b);
    const Bits bits_a = bits_of(raw_a), bits_b = bits_of(raw_b);
    expect_equals(a, bits_a);
    expect_equals(unite(a, b), bits_a | bits_b);
    expect_equals(intersect(a, b), bits_a & bits_b);
    expect_equals(subtract(a, b), bits_a & ~bits_b);
  }
}

TEST_P(IntervalProperties, QuestionsEqualCountedBits) {
  for (int round = 0; round < 200; ++round) {
    const Intervals raw = random_intervals();
    const IntervalSet set = IntervalSet::from(raw);
    const CoverageIndex index(set);
    const Bits bits = bits_of(raw);
    const Nanoseconds begin = random_time(), end = random_time();
    std::int64_t expected = 0;
    for (Nanoseconds t = begin; t < end; ++t) expected += bits.test(static_cast<std::size_t>(t)) ? 1 : 0;
    EXPECT_EQ(set.measure_within(begin, end), expected) << begin << " " << end;
    EXPECT_EQ(index.within(begin, end), expected) << begin << " " << end;
    if (begin < kRange) {
      EXPECT_EQ(set.contains(begin), bits.test(static_cast<std::size_t>(begin)));
    }
  }
}

TEST_P(IntervalProperties, SweepSaysWhichSetsCoverEachInstant) {
  for (int round = 0; round < 100; ++round) {
    const std::array<Intervals, 3> raw{random_intervals(), random_intervals(), random_intervals()};
    std::array<IntervalSet, 3> sets;
    std::array<Bits, 3> bits;
    for (std::size_t i = 0; i < 3; ++i) {
      sets[i] = IntervalSet::from(raw[i]);
      bits[i] = bits_of(raw[i]);
    }
    const Nanoseconds begin = random_time(), end = random_time();
    Nanoseconds now = begin;
    unsigned before = 8;  // no stretch has this
    sweep<3>({&sets[0], &sets[1], &sets[2]}, begin, end,
             [&](Nanoseconds from, Nanoseconds to, unsigned covered) {
               ASSERT_EQ(from, now);
               ASSERT_LT(from, to);
               ASSERT_NE(covered, before);
               for (Nanoseconds t = from; t < to; ++t) {
                 for (std::size_t i = 0; i < 3; ++i) {
                   ASSERT_EQ((covered >> i & 1u) != 0, bits[i].test(static_cast<std::size_t>(t)))
                       << "set " << i << " at " << t;
                 }
               }
               now = to;
               before = covered;
             });
    EXPECT_EQ(now, begin < end ? end : begin);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, IntervalProperties, testing::Range(0u, 20u));

}  // namespace
}  // namespace lockstep::analyzer
