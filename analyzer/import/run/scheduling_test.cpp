#include "analyzer/import/run/scheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/import/rank/rank_import.h"
#include "analyzer/import/run/run.h"
#include "analyzer/import/test_files.h"
#include "trace/events/scheduling.h"
#include "trace/writer.h"

namespace lockstep::analyzer {

bool operator==(const TimeSpan& a, const TimeSpan& b) {
  return a.begin == b.begin && a.end == b.end;
}
void PrintTo(const TimeSpan& span, std::ostream* out) {
  *out << "[" << span.begin << ", " << span.end << ")";
}

namespace run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::LaneKind;
using trace::Writer;

constexpr Nanoseconds kMs = 1'000'000;
constexpr std::uint64_t kThread = 4711;

// Of each 10 ms: how long the only training thread ran, and waited for a core.
struct Look {
  std::int64_t ran_ms = 0, waited_ms = 0;
  bool known = true;
};
std::vector<SchedulingPoint> points_of(const std::vector<Look>& looks) {
  std::vector<SchedulingPoint> points{{0, 0, 0, 0, false}};
  for (const Look& look : looks) {
    SchedulingPoint next = points.back();
    next.time += 10 * kMs;
    next.on_cpu_ns += look.ran_ms * kMs;
    next.runnable_ns += look.waited_ms * kMs;
    next.waited_ns += look.waited_ms * kMs;
    next.known = look.known;
    points.push_back(next);
  }
  return points;
}
TimeSpan ms(Nanoseconds begin, Nanoseconds end) {
  return {begin * kMs, end * kMs};
}

const std::vector<TimeSpan> kAlways{ms(0, 1000)};

TEST(OffCore, TimeInWhichNobodyRanAndNobodyWantedToIsSleep) {
  const OffCore off = find_off_core(points_of({{10}, {0}, {0}, {10}}), kAlways);
  EXPECT_THAT(off.asleep, ElementsAre(ms(10, 30)));
  EXPECT_THAT(off.without_core, IsEmpty());
}

TEST(OffCore, SleepIsExactAtItsEdges) {
  // Asleep from 7 to 34 ms.
  const OffCore off = find_off_core(points_of({{7}, {0}, {0}, {6}}), kAlways);
  EXPECT_THAT(off.asleep, ElementsAre(ms(7, 34)));
}

TEST(OffCore, ReadyWithoutACoreIsNotSleep) {
  const OffCore off = find_off_core(points_of({{10}, {0, 10}, {0, 10}, {10}}), kAlways);
  EXPECT_THAT(off.asleep, IsEmpty());
  EXPECT_THAT(off.without_core, ElementsAre(ms(10, 30)));
}

TEST(OffCore, OneThatWakesUpAndGetsNoCoreSleptFirst) {
  const OffCore off = find_off_core(points_of({{10}, {0}, {0, 4}, {0, 10}, {10}}), kAlways);
  EXPECT_THAT(off.asleep, ElementsAre(ms(10, 26)));
  EXPECT_THAT(off.without_core, ElementsAre(ms(26, 40)));
}

TEST(OffCore, HealthyComputationLosesNothing) {
  // All it wants; time slices shared with others; four threads at once, of which some idle; a hiccup.
  for (const std::vector<Look>& looks :
       {std::vector<Look>{{10}, {10}, {10}}, std::vector<Look>{{6, 4}, {5, 5}, {7, 3}},
        std::vector<Look>{{40}, {27}, {13}}, std::vector<Look>{{9, 1}, {8}, {10}}}) {
    const OffCore off = find_off_core(points_of(looks), kAlways);
    EXPECT_THAT(off.asleep, IsEmpty());
    EXPECT_THAT(off.without_core, IsEmpty());
  }
}

TEST(OffCore, OfAnIntervalInPartAsleepTheLeastPossibleCounts) {
  const std::vector<SchedulingPoint> points = points_of({{10}, {5}, {10}});
  EXPECT_THAT(find_off_core(points, kAlways).asleep, ElementsAre(ms(15, 20)));
  // They may have run in all of the 5 ms within the 8 of computation.
  EXPECT_THAT(find_off_core(points, {ms(12, 30)}).asleep, ElementsAre(ms(17, 20)));
  EXPECT_THAT(find_off_core(points, {ms(14, 30)}).asleep, IsEmpty());
}

// The recorder gives a wait to the oldest interval that has room: here to the one in which the thread slept
// outside of its computation (5 ms), so that the last one lacks them.
TEST(OffCore, AWaitThatIsToldTooEarlyIsNotSleepLater) {
  EXPECT_THAT(find_off_core(points_of({{10}, {1, 9}, {5}, {10}}), {ms(15, 100)}).asleep, IsEmpty());
  // Across intervals in which nobody ran.
  EXPECT_THAT(find_off_core(points_of({{10}, {1, 9}, {0, 10}, {5}, {10}}), {ms(15, 100)}).asleep, IsEmpty());
  // Not across one in which somebody did, and not where the earlier wait lies in computation.
  EXPECT_THAT(find_off_core(points_of({{10}, {1, 9}, {10}, {5}, {10}}), {ms(15, 100)}).asleep,
              ElementsAre(ms(35, 40)));
  EXPECT_THAT(find_off_core(points_of({{10}, {1, 9}, {5}, {10}}), {ms(0, 100)}).asleep,
              ElementsAre(ms(25, 30)));
}

// Short computations between long waits for something else.
TEST(OffCore, AShortComputationBesideSleepLosesNothing) {
  EXPECT_THAT(find_off_core(points_of({{10}, {3}, {0}, {10}}), {ms(14, 17)}).asleep, IsEmpty());
  EXPECT_THAT(find_off_core(points_of({{0}, {0}, {3}, {0}}), {ms(21, 24)}).asleep, IsEmpty());
  const std::vector<SchedulingPoint> points{{0, 0, 0, 0, false}, {100 * kMs, 4 * kMs, 0, 0, true}};
  EXPECT_THAT(find_off_core(points, {ms(50, 54)}).asleep, IsEmpty());
}

TEST(OffCore, WhatNobodyLookedAtIsNotJudged) {
  EXPECT_THAT(find_off_core(points_of({{10}, {0, 0, false}, {10}}), kAlways).asleep, IsEmpty());
  EXPECT_THAT(find_off_core({}, kAlways).asleep, IsEmpty());
}

// A recorded file with the points of `looks`; a thread that computes in [begin, end) of each range.
class File {
 public:
  explicit File(const std::string& lane_name = "main")
      : writer_(must(Writer::create((folder_ / "rank-0.lst").c_str()))) {
    writer_.set_metadata("rank", "0");
    writer_.set_metadata(trace::kTrainingThreadsKey, "4711:0");
    writer_.set_metadata(trace::kCoresKey, "2");
    writer_.set_metadata(trace::kCoreSetKey, "4-5");
    writer_.set_metadata(trace::kCoreQuotaKey, "1.5");
    compute_ = writer_.add_lane({LaneKind::compute_thread, 1, kThread, 0, lane_name});
  }
  void computes(Nanoseconds begin, Nanoseconds end, const char* what = "forward") {
    trace::DeviceActivity activity{compute_, begin, end, writer_.intern(what), trace::ActivityClass::compute,
                                   0,        0};
    activity.layer = 3;
    writer_.append(activity);
  }
  void looks(const std::vector<Look>& looks, Nanoseconds interval = 10 * kMs) {
    const auto lane = [&](std::string_view name) {
      return writer_.add_lane({LaneKind::counter, 1, 0, 0, std::string(name)});
    };
    const trace::LaneId on = lane(trace::kOnCpuCounter), runnable = lane(trace::kRunnableCounter),
                        waited = lane(trace::kWaitedCounter);
    Nanoseconds time = 0;
    for (const trace::LaneId one : {on, runnable, waited}) writer_.append(trace::Counter{one, time, -1});
    for (const Look& look : looks) {
      time += interval;
      const auto value = [&](std::int64_t ms) {
        return look.known ? static_cast<double>(ms * kMs) / static_cast<double>(interval) : -1.0;
      };
      writer_.append(trace::Counter{on, time, value(look.ran_ms)});
      writer_.append(trace::Counter{runnable, time, value(look.waited_ms)});
      writer_.append(trace::Counter{waited, time, value(look.waited_ms)});
    }
  }
  Writer& writer() { return writer_; }
  RankTrace read() {
    EXPECT_TRUE(writer_.close().ok());
    return must(import_file(folder_ / "rank-0.lst", {})).trace;
  }

 private:
  TemporaryFolder folder_;
  Writer writer_;
  trace::LaneId compute_ = 0;
};

std::vector<TimeSpan> computed(const RankTrace& rank) {
  std::vector<TimeSpan> result;
  for (const Activity& activity : rank.activities) result.push_back({activity.begin, activity.end});
  return result;
}

TEST(SchedulingImport, ReadsPointsAndCores) {
  File file;
  file.computes(0, 10 * kMs);
  file.looks({{10}, {4, 6}, {0, 0, false}, {5, 1}});
  const RankTrace rank = file.read();
  EXPECT_THAT(rank.scheduling,
              ElementsAre(SchedulingPoint{0, 0, 0, 0, false}, SchedulingPoint{10 * kMs, 10 * kMs, 0, 0, true},
                          SchedulingPoint{20 * kMs, 14 * kMs, 6 * kMs, 6 * kMs, true},
                          SchedulingPoint{30 * kMs, 14 * kMs, 6 * kMs, 6 * kMs, false},
                          SchedulingPoint{40 * kMs, 19 * kMs, 7 * kMs, 7 * kMs, true}));
  EXPECT_EQ(rank.cores, 2);
  EXPECT_EQ(rank.core_set, "4-5");
  EXPECT_EQ(rank.core_quota, 1.5);
  EXPECT_THAT(rank.counters, IsEmpty());
  EXPECT_TRUE(rank.off_cpu_known);
}

TEST(SchedulingImport, ARangeInWhichTheThreadSleptIsCutAndWhatFollowsIsLaunchedThen) {
  File file;
  file.computes(5 * kMs, 60 * kMs);
  file.looks({{10}, {0}, {0}, {10}, {10}, {10}});
  const RankTrace rank = file.read();
  EXPECT_THAT(rank.off_cpu, ElementsAre(ms(10, 30)));
  ASSERT_THAT(computed(rank), ElementsAre(ms(5, 10), ms(30, 60)));
  EXPECT_EQ(rank.activities[0].launch_end, 5 * kMs);
  EXPECT_EQ(rank.activities[1].launch_begin, 30 * kMs);
  EXPECT_EQ(rank.activities[1].launch_end, 30 * kMs);
  EXPECT_EQ(rank.activities[1].compute, rank.activities[0].compute);
}

TEST(SchedulingImport, ARangeKeepsItsBeginAndItsEnd) {
  File file;
  file.computes(12 * kMs, 28 * kMs);
  file.looks({{10}, {0}, {0}, {10}});
  const RankTrace rank = file.read();
  EXPECT_THAT(rank.off_cpu, ElementsAre(ms(12, 28)));
  EXPECT_THAT(computed(rank), ElementsAre(ms(12, 12), ms(28, 28)));
}

// A pass that a sleep ends, and the next one that begins within it, however many stand in the file: else a
// schedule's passes would seem to take turns (F B F B, where F B is meant).
TEST(SchedulingImport, OfRangesThatMeetInASleepTheFirstEndsBeforeTheNextBegins) {
  File file;
  constexpr int kPairs = 40;
  std::vector<Look> looks;
  for (int pair = 0; pair < kPairs; ++pair) {
    const Nanoseconds begin = pair * 40 * kMs;
    file.computes(begin, begin + 15 * kMs, "forward");
    file.computes(begin + 15 * kMs, begin + 35 * kMs, "backward");
    looks.insert(looks.end(), {{10}, {0}, {10}, {10}});
  }
  file.looks(looks);
  const RankTrace rank = file.read();
  std::vector<std::uint32_t> names;
  for (const Activity& activity : rank.activities)
    if (names.empty() || names.back() != activity.name) names.push_back(activity.name);
  EXPECT_EQ(names.size(), 2U * kPairs);
}

TEST(SchedulingImport, SleepOutsideOfComputationIsNobodysBusiness) {
  File file;
  file.computes(0, 10 * kMs);
  file.computes(30 * kMs, 40 * kMs);
  file.looks({{10}, {0}, {0}, {10}});
  const RankTrace rank = file.read();
  EXPECT_THAT(rank.off_cpu, IsEmpty());
  EXPECT_THAT(computed(rank), ElementsAre(ms(0, 10), ms(30, 40)));
}

TEST(SchedulingImport, WaitingForACoreIsCutAndToldApart) {
  File file;
  file.computes(0, 40 * kMs);
  file.looks({{10}, {0, 10}, {0, 10}, {10}});
  const RankTrace rank = file.read();
  EXPECT_THAT(rank.off_cpu, IsEmpty());
  EXPECT_THAT(rank.without_core, ElementsAre(ms(10, 30)));
  EXPECT_THAT(computed(rank), ElementsAre(ms(0, 10), ms(30, 40)));
}

// Its thread sleeps where a device would compute.
TEST(SchedulingImport, AModelledDeviceIsExempt) {
  File file("paced device");
  file.computes(0, 40 * kMs);
  file.looks({{1}, {0}, {0}, {1}});
  const RankTrace rank = file.read();
  EXPECT_EQ(rank.device, "paced");
  EXPECT_THAT(computed(rank), ElementsAre(ms(0, 40)));
  EXPECT_FALSE(rank.off_cpu_known);
  EXPECT_EQ(rank.scheduling.size(), 5U);
}

TEST(SchedulingImport, NothingIsCutWhereAThreadThatComputesWasNotLookedAt) {
  File file;
  file.writer().set_metadata(trace::kTrainingThreadsKey, "4712:0");
  file.computes(0, 40 * kMs);
  file.looks({{10}, {0}, {0}, {10}});
  const RankTrace rank = file.read();
  EXPECT_THAT(computed(rank), ElementsAre(ms(0, 40)));
  EXPECT_FALSE(rank.off_cpu_known);
}

TEST(SchedulingImport, NothingIsCutOfBeforeTheThreadWasLookedAt) {
  File file;
  file.writer().set_metadata(trace::kTrainingThreadsKey, "4711:20000000");
  file.computes(0, 40 * kMs);
  file.looks({{10}, {0}, {0}, {10}});
  EXPECT_THAT(file.read().off_cpu, ElementsAre(ms(20, 30)));
}

TEST(SchedulingImport, TimesOutsideOfWhatWasRecordedAreNotKnown) {
  File file;
  file.computes(0, 10 * kMs);
  trace::Drop drop{12 * kMs, 18 * kMs, 0, file.writer().intern("control"),
                   file.writer().intern("not recorded: stopped")};
  file.writer().append(drop);
  file.looks({{10}, {0}, {10}});
  const RankTrace rank = file.read();
  ASSERT_EQ(rank.scheduling.size(), 4U);
  EXPECT_TRUE(rank.scheduling[1].known);
  EXPECT_FALSE(rank.scheduling[2].known);
  EXPECT_TRUE(rank.scheduling[3].known);
}

TEST(SchedulingImport, AFileWithoutItLoadsAsBefore) {
  File file;
  file.computes(0, 40 * kMs);
  const RankTrace rank = file.read();
  EXPECT_THAT(rank.scheduling, IsEmpty());
  EXPECT_FALSE(rank.off_cpu_known);
  EXPECT_THAT(computed(rank), ElementsAre(ms(0, 40)));
}

TEST(SchedulingImport, NonsenseInAFileIsIgnored) {
  File file;
  file.writer().set_metadata(trace::kTrainingThreadsKey, "4711:0,,x:7,99");
  file.writer().set_metadata(trace::kCoreQuotaKey, "nan");
  file.computes(0, 40 * kMs);
  file.looks({{10}, {1'000'000'000'000}, {0, 7}, {10}});
  const RankTrace rank = file.read();
  EXPECT_EQ(rank.core_quota, 0);
  for (std::size_t i = 1; i < rank.scheduling.size(); ++i) {
    EXPECT_GE(rank.scheduling[i].on_cpu_ns, rank.scheduling[i - 1].on_cpu_ns);
    EXPECT_LE(rank.scheduling[i].waited_ns - rank.scheduling[i - 1].waited_ns, 10 * kMs);
  }
}

}  // namespace
}  // namespace run
}  // namespace lockstep::analyzer
