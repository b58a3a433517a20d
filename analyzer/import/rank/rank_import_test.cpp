#include "analyzer/import/rank/rank_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

TEST(Finish, ComputesDepthsOfNestedAndCrossingRanges) {
  RankImport rank;
  rank.trace.lanes.resize(2);
  //          0    1    2 …
  // lane 0   [outer      100]
  //            [a  50]  [b 100)          b begins where a ends
  //              [x 20]
  //                          [crosses    80..120): partly over b and outer
  rank.trace.host_ranges = {{80, 120, 5, 0, 0, {}}, {50, 100, 3, 0, 0, {}}, {5, 20, 4, 0, 0, {}},
                            {1, 50, 2, 0, 0, {}},   {0, 100, 1, 0, 0, {}},  {0, 100, 9, 1, 0, {}},
                            {60, 60, 6, 0, 0, {}}};
  finish(rank);
  std::vector<std::pair<std::uint32_t, int>> depths;
  for (const HostRange& range : rank.trace.host_ranges) depths.emplace_back(range.name, range.depth);
  using P = std::pair<std::uint32_t, int>;
  EXPECT_THAT(depths, ElementsAre(P(1, 0), P(2, 1), P(4, 2), P(3, 1), P(6, 2), P(5, 2), P(9, 0)));
}

// Depth = how many earlier ranges of the lane are open at its begin, for ranges that nest.
TEST(Finish, DepthsOfNestedRangesAreCountsOfOpenRanges) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<HostRange> ranges;
    const auto nest = [&](auto&& self, Nanoseconds begin, Nanoseconds end, std::uint16_t depth) -> void {
      while (end - begin > 4 && random() % 4 != 0) {
        const Nanoseconds a = begin + static_cast<Nanoseconds>(random() % 3),
                          b = a + 1 +
                              static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(end - a));
        if (b > end) break;
        // `name` keeps the true depth.
        ranges.push_back({a, b, depth, 0, 0, {}});
        self(self, a + 1, b - 1, static_cast<std::uint16_t>(depth + 1));
        begin = b;
      }
    };
    nest(nest, 0, 200, 0);
    std::shuffle(ranges.begin(), ranges.end(), random);
    RankImport rank;
    rank.trace.lanes.resize(1);
    rank.trace.host_ranges = ranges;
    finish(rank);
    for (const HostRange& range : rank.trace.host_ranges) ASSERT_EQ(range.depth, range.name) << round;
  }
}

TEST(Finish, AssignsStepsByTheReturnOfTheLaunch) {
  RankImport rank;
  rank.trace.lanes.resize(1);
  rank.trace.steps = {{8, 200, 300}, {7, 100, 200}};
  const auto add = [&](Nanoseconds begin, Nanoseconds launch_end) {
    Activity activity;
    activity.begin = activity.end = begin;
    activity.launch_begin = activity.launch_end = launch_end;
    rank.trace.activities.push_back(activity);
  };
  add(1000, 99);
  add(1001, 100);
  add(1002, 199);
  add(1003, 200);  // the instant at which both meet is the later step's
  add(1004, 300);
  add(1005, 301);
  add(1006, kUnknownTime);
  finish(rank);
  std::vector<std::uint32_t> steps;
  for (const Activity& activity : rank.trace.activities) steps.push_back(activity.step);
  EXPECT_THAT(steps, ElementsAre(kNone, 0u, 0u, 1u, 1u, kNone, kNone));
}

}  // namespace
}  // namespace lockstep::analyzer
