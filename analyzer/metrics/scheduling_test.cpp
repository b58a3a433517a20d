#include "analyzer/metrics/scheduling.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

// 0: begins. To 100: 80 on a core, 30 waited. To 200: nobody looked. To 300: 50 on a core, all asleep else.
const std::vector<SchedulingPoint> kPoints{
    {0, 0, 0, 0, false}, {100, 80, 30, 20, true}, {200, 80, 30, 20, false}, {300, 130, 30, 20, true}};

TEST(Scheduling, TakesWhatLiesBetweenPointsAsEven) {
  const auto half = scheduling_within(kPoints, {0, 50});
  ASSERT_TRUE(half.has_value());
  EXPECT_EQ(half->on_cpu_ns, 40);
  EXPECT_EQ(half->runnable_ns, 15);
  EXPECT_EQ(half->waited_ns, 10);
  EXPECT_EQ(half->known_ns, 50);
}

TEST(Scheduling, LeavesOutWhatNobodyLookedAt) {
  const auto all = scheduling_within(kPoints, {-50, 900});
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->on_cpu_ns, 130);
  EXPECT_EQ(all->known_ns, 200);
  const auto across = scheduling_within(kPoints, {150, 220});
  ASSERT_TRUE(across.has_value());
  EXPECT_EQ(across->on_cpu_ns, 10);
  EXPECT_EQ(across->known_ns, 20);
  EXPECT_FALSE(scheduling_within(kPoints, {100, 200}).has_value());
  EXPECT_FALSE(scheduling_within(kPoints, {300, 400}).has_value());
  EXPECT_FALSE(scheduling_within({}, {0, 100}).has_value());
}

TEST(Scheduling, PartsSumToTheWhole) {
  std::int64_t on_cpu = 0, known = 0;
  for (Nanoseconds begin = 0; begin < 300; begin += 25) {
    const auto part = scheduling_within(kPoints, {begin, begin + 25});
    if (!part.has_value()) continue;
    on_cpu += part->on_cpu_ns;
    known += part->known_ns;
  }
  EXPECT_EQ(on_cpu, 130);  // also where a part is half a nanosecond
  EXPECT_EQ(known, 200);
}

}  // namespace
}  // namespace lockstep::analyzer
