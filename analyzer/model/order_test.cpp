#include "analyzer/model/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace lockstep::analyzer {
namespace {

using Times = std::tuple<Nanoseconds, Nanoseconds, Nanoseconds>;
Times times_of(const Activity& activity) {
  return {activity.begin, activity.launch_begin, activity.end};
}

// Each activity is called by its number; every third one is a communication, whose sequence is that number.
RankTrace trace_of(const std::vector<Times>& times) {
  RankTrace trace;
  for (std::uint32_t number = 0; number < times.size(); ++number) {
    Activity activity;
    std::tie(activity.begin, activity.launch_begin, activity.end) = times[number];
    activity.name = number;
    if (number % 3 == 0) {
      activity.communication = static_cast<std::uint32_t>(trace.communications.size());
      Communication communication;
      communication.activity = number;
      communication.sequence = number;
      trace.communications.push_back(communication);
    }
    trace.activities.push_back(activity);
  }
  return trace;
}

// What is first of what is left, again and again; of equals the one that was given first.
std::vector<std::uint32_t> slow_order(std::vector<Times> times) {
  std::vector<std::uint32_t> order;
  std::vector<bool> taken(times.size());
  while (order.size() < times.size()) {
    std::size_t first = times.size();
    for (std::size_t i = 0; i < times.size(); ++i)
      if (!taken[i] && (first == times.size() || times[i] < times[first])) first = i;
    taken[first] = true;
    order.push_back(static_cast<std::uint32_t>(first));
  }
  return order;
}

void expect_ordered(const std::vector<Times>& times) {
  RankTrace trace = trace_of(times);
  order_activities(trace);
  const std::vector<std::uint32_t> expected = slow_order(times);
  ASSERT_EQ(trace.activities.size(), expected.size());
  std::uint32_t communications = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Activity& activity = trace.activities[i];
    EXPECT_EQ(activity.name, expected[i]) << "at " << i;
    EXPECT_EQ(times_of(activity), times[expected[i]]);
    if (activity.name % 3 != 0) {
      EXPECT_EQ(activity.communication, kNone);
      continue;
    }
    ASSERT_EQ(activity.communication, communications++);
    EXPECT_EQ(trace.communications[activity.communication].activity, i);
    EXPECT_EQ(trace.communications[activity.communication].sequence, activity.name);
  }
  EXPECT_EQ(trace.communications.size(), communications);
}

TEST(Order, OfFewActivities) {
  expect_ordered({});
  expect_ordered({{5, 1, 9}});
  expect_ordered({{1, 0, 2}, {2, 0, 3}, {3, 0, 4}});
  expect_ordered({{3, 0, 4}, {2, 0, 3}, {1, 0, 2}});
}

TEST(Order, GoesByBeginThenLaunchThenEnd) {
  expect_ordered({{7, 3, 9}, {7, 2, 12}, {7, 2, 11}, {6, 5, 8}, {7, kUnknownTime, 30}});
}

TEST(Order, OfEqualTimesStays) {
  expect_ordered({{4, 0, 5}, {1, 0, 5}, {4, 0, 5}, {1, 0, 5}, {4, 0, 5}});
}

TEST(Order, IsThatOfAnObviousSearchForRandomTimes) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto draw = [&](int most) { return std::uniform_int_distribution(0, most)(random); };
    std::vector<Times> times(static_cast<std::size_t>(draw(60)));
    for (auto& [begin, launch, end] : times) {
      begin = draw(10 + round);
      launch = draw(2) == 0 ? kUnknownTime : begin - draw(3);
      end = begin + draw(3);
    }
    // Streams, each of them in order, as recordings have them.
    if (round % 2 == 0) {
      const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
      std::sort(times.begin(), middle);
      std::sort(middle, times.end());
    }
    expect_ordered(times);
  }
}

}  // namespace
}  // namespace lockstep::analyzer
