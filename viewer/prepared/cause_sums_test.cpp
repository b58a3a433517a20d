#include "viewer/prepared/cause_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace lockstep::viewer {
namespace {

using analyzer::Cause;
using analyzer::CauseSegment;

TEST(CauseSums, OfNothingAreZero) {
  EXPECT_EQ(CauseSums().within(0, 100), CauseTimes{});
  const CauseBlocks blocks = cause_blocks_of({});
  EXPECT_EQ(CauseSums({}, blocks.begin, blocks.before).within(0, 100), CauseTimes{});
}

TEST(CauseSums, CutTheSegmentsAtTheEdges) {
  const std::vector<CauseSegment> segments{
      {0, 10, Cause::compute}, {10, 30, Cause::barrier_wait}, {30, 35, Cause::compute}};
  const CauseBlocks blocks = cause_blocks_of(segments);
  const CauseTimes times = CauseSums(segments, blocks.begin, blocks.before).within(5, 32);
  EXPECT_EQ(times[static_cast<std::size_t>(Cause::compute)], 7u);
  EXPECT_EQ(times[static_cast<std::size_t>(Cause::barrier_wait)], 20u);
}

// Segments without gaps and with some, and the cause of each nanosecond from -10 on.
struct Random {
  explicit Random(std::mt19937_64& random) : each(10) {
    const std::size_t count = random() % 200;
    for (std::size_t i = 0; i < count; ++i) {
      if (random() % 4 == 0) each.resize(each.size() + random() % 12);
      const auto begin = static_cast<Nanoseconds>(each.size()) - 10;
      const auto length = static_cast<Nanoseconds>(1 + random() % 9);
      const auto cause = static_cast<Cause>(random() % analyzer::kCauseCount);
      segments.push_back({begin, begin + length, cause});
      each.insert(each.end(), static_cast<std::size_t>(length), cause);
    }
    blocks = cause_blocks_of(segments);
  }
  CauseSums sums() const { return {segments, blocks.begin, blocks.before}; }
  CauseTimes counted(Nanoseconds begin, Nanoseconds end) const {
    CauseTimes times{};
    for (Nanoseconds at = std::max<Nanoseconds>(begin, -10);
         at < std::min<Nanoseconds>(end, static_cast<Nanoseconds>(each.size()) - 10); ++at)
      if (const auto cause = each[static_cast<std::size_t>(at + 10)])
        ++times[static_cast<std::size_t>(*cause)];
    return times;
  }
  Nanoseconds time(std::mt19937_64& random) const {
    return static_cast<Nanoseconds>(random() % (each.size() + 20)) - 20;
  }

  std::vector<std::optional<Cause>> each;
  std::vector<CauseSegment> segments;
  CauseBlocks blocks;
};

TEST(CauseSums, AgreeWithCountingEveryNanosecond) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    const Random job(random);
    const CauseSums sums = job.sums();
    for (int query = 0; query < 50; ++query) {
      const Nanoseconds begin = job.time(random);
      const Nanoseconds end = begin + static_cast<Nanoseconds>(random() % 100);
      ASSERT_EQ(sums.within(begin, end), job.counted(begin, end)) << round;
    }
  }
}

TEST(CauseColumns, AgreeWithCountingEveryNanosecond) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 300; ++round) {
    const Random job(random);
    const CauseSums sums = job.sums();
    Nanoseconds begin = job.time(random);
    CauseColumns columns(sums, begin);
    const std::size_t widest = 1 + random() % 300;
    for (int column = 0; column < 50; ++column) {
      const Nanoseconds end = begin + static_cast<Nanoseconds>(random() % widest);
      ASSERT_EQ(columns.up_to(end), job.counted(begin, end)) << round;
      begin = end;
    }
  }
}

TEST(CauseColumns, WhatEndsBeforeTheLastIsEmptyAndLeavesThemAsTheyAre) {
  const std::vector<CauseSegment> segments{{0, 100, Cause::compute}};
  const CauseBlocks blocks = cause_blocks_of(segments);
  const CauseSums sums(segments, blocks.begin, blocks.before);
  CauseColumns columns(sums, 10);
  EXPECT_EQ(columns.up_to(5), CauseTimes{});
  EXPECT_EQ(columns.up_to(30)[static_cast<std::size_t>(Cause::compute)], 20u);
  EXPECT_EQ(columns.up_to(30), CauseTimes{});
  EXPECT_EQ(columns.up_to(500)[static_cast<std::size_t>(Cause::compute)], 70u);
}

}  // namespace
}  // namespace lockstep::viewer
