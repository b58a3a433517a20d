#include "analyzer/diagnose/idle_gaps.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kMs = 1'000'000;

// A rank that computes for 10 ms and then does nothing for 30 in each of ten steps. In the 40 ms from one
// look to the next its thread runs for `on` ms and waits for a core for `waits`.
struct Gaps {
  RankTrace rank;
  Report report;

  Gaps(std::int64_t on, std::int64_t waits, Nanoseconds begins_with_look = 0, std::int64_t looks_every = 40) {
    rank.rank = 3;
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds begin = step * 40 * kMs;
      Activity activity;
      activity.activity_class = Class::compute;
      activity.begin = begin;
      activity.end = begin + 10 * kMs;
      rank.activities.push_back(activity);
      StepReport row;
      row.step = step;
      row.rank = 3;
      row.begin_ns = begin;
      row.end_ns = begin + 40 * kMs;
      report.steps.push_back(row);
    }
    SchedulingPoint point{begins_with_look * kMs, 0, 0, 0, false};
    for (; point.time <= 440 * kMs; point.time += looks_every * kMs) {
      rank.scheduling.push_back(point);
      point.known = true;
      point.on_cpu_ns += on * looks_every / 40 * kMs;
      point.waited_ns += waits * looks_every / 40 * kMs;
    }
  }
  GapTimes times(Cause cause = Cause::host_bound) const { return times_of_gaps(rank, report, cause); }
};

TEST(IdleGaps, AThreadThatOnlyComputesSleepsBetween) {
  const GapTimes times = Gaps(10, 0).times();
  EXPECT_EQ(times.all_ns, 300 * kMs);
  EXPECT_EQ(times.without_core_ns, 0);
  ASSERT_TRUE(times.running.has_value());
  EXPECT_EQ(times.running->least, 0);
  EXPECT_EQ(times.running->most, 0);
}

TEST(IdleGaps, AThreadThatRunsOnIsSeenToRun) {
  const GapTimes times = Gaps(40, 0).times();
  EXPECT_EQ(times.running->least, 1);
  EXPECT_EQ(times.running->most, 1);
}

// A loop that is given the core half of the time wanted all of it.
TEST(IdleGaps, WaitingForACoreIsNotSleep) {
  const GapTimes times = Gaps(20, 20).times();
  EXPECT_EQ(times.running->least, 1);
  EXPECT_EQ(times.without_core_ns, 150 * kMs);
}

TEST(IdleGaps, LooksThatAreFarApartTellNothing) {
  EXPECT_FALSE(Gaps(40, 0, 0, 160).times().running.has_value());
  Gaps unseen(40, 0);
  for (SchedulingPoint& point : unseen.rank.scheduling) point.known = false;
  EXPECT_FALSE(unseen.times().running.has_value());
  unseen.rank.scheduling.clear();
  EXPECT_FALSE(unseen.times().running.has_value());
  EXPECT_EQ(unseen.times().all_ns, 300 * kMs);
}

TEST(IdleGaps, LoadingDataIsApart) {
  Gaps gaps(10, 20);
  HostRange range;
  range.kind = HostKind::data_loading;
  range.begin = 12 * kMs;
  range.end = 32 * kMs;
  gaps.rank.host_ranges.push_back(range);
  EXPECT_EQ(gaps.times(Cause::data_wait).all_ns, 20 * kMs);
  EXPECT_EQ(gaps.times(Cause::data_wait).without_core_ns, 10 * kMs);
  EXPECT_EQ(gaps.times().all_ns, 280 * kMs);
}

}  // namespace
}  // namespace lockstep::analyzer
