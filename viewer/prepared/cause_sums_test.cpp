#include "viewer/prepared/cause_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lockstep::viewer {
namespace {

using analyzer::Cause;
using analyzer::CauseSegment;

TEST(CauseSums, OfNothingAreZero) {
  EXPECT_EQ(CauseSums().within(0, 100), CauseTimes{});
  const std::vector<CauseTimes> sums = cause_sums_of({});
  EXPECT_EQ(CauseSums({}, sums).within(0, 100), CauseTimes{});
}

TEST(CauseSums, CutTheSegmentsAtTheEdges) {
  const std::vector<CauseSegment> segments{
      {0, 10, Cause::compute}, {10, 30, Cause::barrier_wait}, {30, 35, Cause::compute}};
  const std::vector<CauseTimes> sums = cause_sums_of(segments);
  const CauseTimes times = CauseSums(segments, sums).within(5, 32);
  EXPECT_EQ(times[static_cast<std::size_t>(Cause::compute)], 7u);
  EXPECT_EQ(times[static_cast<std::size_t>(Cause::barrier_wait)], 20u);
}

TEST(CauseSums, AgreeWithCountingEveryNanosecond) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<CauseSegment> segments;
    std::vector<Cause> each;  // [i]: the cause of nanosecond i
    const std::size_t count = random() % 70;
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = static_cast<Nanoseconds>(each.size());
      const auto length = static_cast<Nanoseconds>(1 + random() % 9);
      const auto cause = static_cast<Cause>(random() % analyzer::kCauseCount);
      segments.push_back({begin, begin + length, cause});
      each.insert(each.end(), static_cast<std::size_t>(length), cause);
    }
    const std::vector<CauseTimes> kept = cause_sums_of(segments);
    const CauseSums sums(segments, kept);
    for (int query = 0; query < 50; ++query) {
      const auto begin = static_cast<Nanoseconds>(random() % (each.size() + 10)) - 5;
      const auto end = begin + static_cast<Nanoseconds>(random() % 100);
      CauseTimes expected{};
      for (Nanoseconds at = std::max<Nanoseconds>(begin, 0);
           at < std::min<Nanoseconds>(end, static_cast<Nanoseconds>(each.size())); ++at) {
        ++expected[static_cast<std::size_t>(each[static_cast<std::size_t>(at)])];
      }
      ASSERT_EQ(sums.within(begin, end), expected) << round;
    }
  }
}

}  // namespace
}  // namespace lockstep::viewer
