// The measures that have files of their own: that none is forgotten, and the first ones on a rank made by
// hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "analyzer/metrics/rank_timeline.h"
#include "analyzer/metrics/window_measure.h"

namespace lockstep::analyzer {
namespace {

TEST(WindowMeasures, NoFileIsForgotten) {
  const std::set<std::string> listed{
#define LOCKSTEP_MEASURE(type, name, known, meaning)
#define LOCKSTEP_WINDOW_MEASURE(type, name, known, meaning) "measure_" #name ".cpp",
#include "analyzer/report/measures.def"
  };
  std::set<std::string> found;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "analyzer/metrics")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("measure_") && name.ends_with(".cpp") && !name.ends_with("_test.cpp"))
      found.insert(name);
  }
  EXPECT_EQ(found, listed);
}

// Computes to 10 and from 30 on, launched then; its thread slept from 12 to 25. It was looked at at 0 and 40:
// it had run for 24 and waited for 4.
RankTrace rank_that_slept() {
  RankTrace rank;
  for (const Interval computed : {Interval{0, 10}, Interval{30, 40}}) {
    Activity activity;
    activity.activity_class = Class::compute;
    activity.begin = activity.launch_begin = activity.launch_end = computed.begin;
    activity.end = computed.end;
    rank.activities.push_back(activity);
  }
  rank.off_cpu = {{12, 25}};
  rank.off_cpu_known = true;
  rank.scheduling = {{0, 0, 0, 0, false}, {40, 24, 6, 4, true}};
  return rank;
}

TEST(WindowMeasures, TellWhatTheThreadsOfARankDid) {
  const RankTrace rank = rank_that_slept();
  const RankTimeline timeline(rank, {}, {});
  const Measures all = timeline.measures({0, 40});
  EXPECT_EQ(all.off_cpu_ns, 13);
  EXPECT_EQ(all.run_queue_ns, 4);
  EXPECT_EQ(all.on_core_ns, 24);
  const Measures half = timeline.measures({0, 20});
  EXPECT_EQ(half.off_cpu_ns, 8);
  EXPECT_EQ(half.run_queue_ns, 2);
  EXPECT_EQ(half.on_core_ns, 12);
}

TEST(WindowMeasures, SleepBesideWhichSomethingRanIsNoGap) {
  RankTrace rank = rank_that_slept();
  rank.activities.front().end = 20;
  EXPECT_EQ(RankTimeline(rank, {}, {}).measures({0, 40}).off_cpu_ns, 5);
  rank.off_cpu.clear();
  EXPECT_EQ(RankTimeline(rank, {}, {}).measures({0, 40}).off_cpu_ns, 0);
}

TEST(WindowMeasures, AreAbsentWhereNobodyLooked) {
  RankTrace rank = rank_that_slept();
  rank.off_cpu_known = false;
  rank.scheduling.clear();
  const Measures measures = RankTimeline(rank, {}, {}).measures({0, 40});
  EXPECT_FALSE(measures.off_cpu_ns.has_value());
  EXPECT_FALSE(measures.run_queue_ns.has_value());
  EXPECT_FALSE(measures.on_core_ns.has_value());
}

}  // namespace
}  // namespace lockstep::analyzer
