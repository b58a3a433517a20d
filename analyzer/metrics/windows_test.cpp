#include "analyzer/metrics/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

struct Rank {
  StringTable strings;
  RankBuilder builder{strings, 0};
};

std::vector<Interval> step_windows(const RankBuilder& builder) {
  std::vector<Interval> windows;
  for (const StepWindow& step : find_windows(builder.build()).steps) windows.push_back(step.window);
  return windows;
}

TEST(Windows, AStepRunsFromItsFirstActivityToTheNextStepsFirst) {
  Rank rank;
  rank.builder.step(1, 0, 100).step(2, 100, 200);
  rank.builder.compute(50, 60).launched(10, 12).compute(120, 130).launched(20, 22);  // step 1, runs late
  rank.builder.compute(140, 150).launched(110, 112).compute(260, 300).launched(190, 192);  // step 2
  EXPECT_THAT(step_windows(rank.builder), ElementsAre(Interval{50, 140}, Interval{140, 300}));
}

TEST(Windows, TheStepThatHoldsTheCallsReturnLaunched) {
  Rank rank;
  rank.builder.step(1, 0, 100).step(2, 110, 200);
  rank.builder.compute(120, 130).launched(95, 105);   // returns between the steps: in none
  rank.builder.compute(140, 150).launched(105, 115);  // begins between, returns in step 2
  rank.builder.compute(160, 170).launched(90, 100);   // returns as step 1 ends
  const RankTrace trace = rank.builder.build();
  EXPECT_EQ(launching_step(trace, trace.activities[0]), kNone);
  EXPECT_EQ(launching_step(trace, trace.activities[1]), 1u);
  EXPECT_EQ(launching_step(trace, trace.activities[2]), 0u);
}

TEST(Windows, WhatTheImporterSaysOutweighsTheLaunch) {
  Rank rank;
  rank.builder.step(1, 0, 100).step(2, 100, 200).compute(10, 20).launched(1, 2).in_step(1);
  const RankTrace trace = rank.builder.build();
  EXPECT_EQ(launching_step(trace, trace.activities[0]), 1u);
}

TEST(Windows, NeverOverlap) {
  Rank rank;
  rank.builder.step(1, 0, 100).step(2, 100, 200).step(3, 200, 300);
  rank.builder.compute(150, 160).launched(10, 20);
  rank.builder.compute(120, 130).launched(110, 111);  // step 2's first starts before step 1's
  rank.builder.compute(250, 260).launched(210, 211);
  EXPECT_THAT(step_windows(rank.builder),
              ElementsAre(Interval{150, 150}, Interval{150, 250}, Interval{250, 260}));
}

TEST(Windows, WithoutLaunchesTheHostRangeStandsForTheStep) {
  Rank rank;
  rank.builder.step(1, 0, 100).step(2, 100, 200).compute(10, 90);
  const RankWindows windows = find_windows(rank.builder.build());
  EXPECT_EQ(windows.steps[0].window, (Interval{0, 100}));
  EXPECT_TRUE(windows.steps[0].from_host);
  EXPECT_EQ(windows.steps[1].window, (Interval{100, 200}));
}

TEST(Windows, AHostWindowIsClampedToTheDeviceWindowBefore) {
  Rank rank;
  rank.builder.step(1, 0, 100).step(2, 100, 200).compute(10, 130).launched(1, 2);
  EXPECT_THAT(step_windows(rank.builder), ElementsAre(Interval{10, 130}, Interval{130, 200}));
}

TEST(Windows, AStepBehindWhichTheNextOneLaunchedNothingRunsToItsLastEnd) {
  Rank rank;
  rank.builder.step(1, 0, 100).step(2, 100, 200).step(3, 200, 300);
  rank.builder.compute(10, 130).launched(1, 2).compute(20, 50).launched(3, 4);
  rank.builder.compute(220, 240).launched(210, 211);  // step 3; step 2 launched nothing
  EXPECT_THAT(step_windows(rank.builder),
              ElementsAre(Interval{10, 130}, Interval{130, 200}, Interval{220, 240}));
}

TEST(Windows, TheWholeWindowIgnoresSynchronization) {
  Rank rank;
  rank.builder.sync(0, 500).copy(20, 30).compute(25, 90).compute(40, 50);
  EXPECT_EQ(find_windows(rank.builder.build()).whole, (Interval{20, 90}));
}

TEST(Windows, NothingThatWorksHasNoWindow) {
  Rank rank;
  rank.builder.sync(0, 500);
  EXPECT_FALSE(find_windows(rank.builder.build()).has_work);
}

}  // namespace
}  // namespace lockstep::analyzer
