#include "analyzer/stacks/slow_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kStep = 100'000'000, kLook = 10'000'000;
constexpr int kSteps = 20;

TEST(FunctionOfPlace, IsTheSameForAllItsLines) {
  EXPECT_EQ(function_of_place("load (train.py:31), called by main (train.py:60)"), "load (train.py");
  EXPECT_EQ(function_of_place("load (train.py:7)"), "load (train.py");
  EXPECT_NE(function_of_place("load (other.py:31)"), "load (train.py");
  EXPECT_EQ(function_of_place("nothing like it"), "nothing like it");
}

class SlowPlaces : public testing::Test {
 protected:
  // What the looks of every step see, one after the other, from the step's begin on.
  void add_rank(const std::vector<std::string>& of_a_step) {
    RankTrace rank;
    rank.rank = static_cast<std::int32_t>(job_.ranks.size());
    rank.lanes = {{trace::LaneKind::host_thread, 1, "looks"}};
    for (int step = 0; step < kSteps; ++step) {
      Nanoseconds at = step * kStep;
      rank.steps.push_back({step, at, at + kStep});
      for (const std::string& place : of_a_step) {
        rank.host_ranges.push_back(
            {at, at + kLook, job_.strings.intern(place), 0, 0, HostKind::python_place});
        at += kLook;
      }
    }
    job_.ranks.push_back(std::move(rank));
  }
  PlaceComparison compare(std::int32_t rank, std::int64_t excess_ns, int steps = kSteps) const {
    SlowPlaceQuestion question;
    question.rank = rank;
    question.excess_ns = excess_ns;
    for (const RankTrace& trace : job_.ranks) question.ranks.push_back(trace.rank);
    for (int step = 0; step < steps; ++step) question.steps.push_back(step);
    return compare_places(job_, question);
  }
  Job job_;
};

TEST_F(SlowPlaces, TheFunctionThatOneRankIsLongerInIsNamedByItsCostliestLine) {
  add_rank({"main (train.py:60)", "main (train.py:60)", "log (train.py:9)"});
  add_rank({"main (train.py:60)", "log (train.py:9)", "log (train.py:12)", "log (train.py:12)"});
  add_rank({"main (train.py:60)", "main (train.py:61)", "log (train.py:9)"});
  const PlaceComparison found = compare(1, 2 * kLook);
  ASSERT_TRUE(found.known);
  ASSERT_TRUE(found.slow.has_value());
  EXPECT_EQ(found.slow->place, "log (train.py:12)");
  EXPECT_EQ(found.slow->excess_ns, 2 * kLook);
  EXPECT_EQ(found.slow->looks, 3 * kSteps);
  EXPECT_EQ(found.slow->all_looks, 4 * kSteps);
  EXPECT_EQ(found.slow->others, kSteps);
}

// All spend most of the function's time in one line of it, this one two looks more in another.
TEST_F(SlowPlaces, TheLineIsTheOneThatDiffers) {
  const std::string model = "forward (train.py:35)", loop = "forward (train.py:41)";
  add_rank({"main (train.py:60)", model, model, model});
  add_rank({"main (train.py:60)", model, model, model, loop, loop});
  const PlaceComparison found = compare(1, 2 * kLook);
  ASSERT_TRUE(found.slow.has_value());
  EXPECT_EQ(found.slow->place, loop);
  EXPECT_EQ(found.slow->looks, 5 * kSteps) << "of the function";
}

TEST_F(SlowPlaces, NothingIsNamedWhereAllRanksAreAlike) {
  add_rank({"main (train.py:60)", "log (train.py:9)"});
  add_rank({"main (train.py:60)", "log (train.py:9)"});
  EXPECT_TRUE(compare(0, kLook).known);
  EXPECT_FALSE(compare(0, kLook).slow.has_value());
}

// All train in `main`: where one does something there, the others wait there, and all are in it for as long.
TEST_F(SlowPlaces, LinesOfAFunctionThatAllAreInAreNamedWhereOneRankAloneIsAtThem) {
  add_rank({"main (train.py:60)", "main (train.py:64)", "main (train.py:64)"});
  add_rank({"main (train.py:60)", "main (train.py:70)", "main (train.py:71)"});
  add_rank({"main (train.py:60)", "main (train.py:64)", "main (train.py:64)"});
  const PlaceComparison found = compare(1, 2 * kLook);
  ASSERT_TRUE(found.slow.has_value());
  EXPECT_TRUE(found.slow->is_line);
  EXPECT_THAT(found.slow->place, testing::AnyOf("main (train.py:70)", "main (train.py:71)"));
  EXPECT_EQ(found.slow->excess_ns, 2 * kLook);
  EXPECT_EQ(found.slow->looks, 2 * kSteps);
  EXPECT_EQ(found.slow->others, 0);
  EXPECT_FALSE(compare(1, 4 * kLook + 1).slow.has_value()) << "less than half of it";
  EXPECT_FALSE(compare(0, kLook).slow.has_value()) << "another waits at that line too";
  const std::vector<IntervalSet> all(3, IntervalSet::from({{0, kSteps * kStep}}));
  const std::vector<OneRanksPlace> alone = places_of_one_rank(job_, all);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].rank, 1);
  EXPECT_EQ(alone[0].looks, 2 * kSteps);
}

TEST_F(SlowPlaces, NothingIsNamedThatIsLessThanHalfOfTheLateness) {
  add_rank({"main (train.py:60)"});
  add_rank({"main (train.py:60)", "log (train.py:9)"});
  EXPECT_TRUE(compare(1, 2 * kLook).slow.has_value());
  EXPECT_FALSE(compare(1, 2 * kLook + 1).slow.has_value());
}

// A pipeline's last stage hands the targets to the schedule in a line of its own, where it is for most of the
// step.
TEST_F(SlowPlaces, ALineThatARankIsInForAMultipleOfItsLatenessIsNotWhy) {
  add_rank({"main (train.py:25)", "main (train.py:25)", "main (train.py:25)", "main (train.py:25)",
            "main (train.py:25)", "main (train.py:25)", "main (train.py:25)"});
  add_rank({"main (train.py:22)", "main (train.py:24)", "main (train.py:24)", "main (train.py:24)",
            "main (train.py:24)", "main (train.py:24)", "main (train.py:24)"});
  const PlaceComparison found = compare(1, kLook);
  ASSERT_TRUE(found.slow.has_value());
  EXPECT_EQ(found.slow->place, "main (train.py:22)");
  EXPECT_EQ(found.slow->excess_ns, kLook);
}

TEST_F(SlowPlaces, FewLooksNameNothing) {
  add_rank({"main (train.py:60)"});
  add_rank({"main (train.py:60)", "log (train.py:9)"});
  EXPECT_FALSE(compare(1, kLook, 8).slow.has_value());
  EXPECT_TRUE(compare(1, kLook, 9).slow.has_value()) << "nine are three deviations above none";
}

TEST_F(SlowPlaces, ARankWithoutLooksLeavesItUnknown) {
  add_rank({"main (train.py:60)"});
  add_rank({});
  EXPECT_FALSE(compare(0, kLook).known);
}

TEST_F(SlowPlaces, LooksOutsideOfTheStepsDoNotCount) {
  add_rank({"main (train.py:60)"});
  add_rank({"main (train.py:60)", "log (train.py:9)"});
  for (int look = 0; look < 1000; ++look)
    job_.ranks[0].host_ranges.push_back({(kSteps + look) * kStep, (kSteps + look) * kStep + kLook,
                                         job_.strings.intern("log (train.py:9)"), 0, 0,
                                         HostKind::python_place});
  ASSERT_TRUE(compare(1, kLook).slow.has_value());
  EXPECT_EQ(compare(1, kLook).slow->others, 0);
}

TEST_F(SlowPlaces, TheMostCommonPlaceIsTheLineThatLooksWithinTheTimesSaw) {
  add_rank({"main (train.py:60)", "log (train.py:12)", "log (train.py:12)"});
  add_rank({"main (train.py:60)", "log (train.py:12)", "log (train.py:12)"});
  const std::vector<IntervalSet> all(2, IntervalSet::from({{0, kSteps * kStep}}));
  const auto found = most_common_place(job_, all);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->place, "log (train.py:12)");
  EXPECT_EQ(found->looks, 4 * kSteps);
  EXPECT_EQ(found->all_looks, 6 * kSteps);
  EXPECT_TRUE(places_of_one_rank(job_, all).empty()) << "both ranks are in both functions";
  const std::vector<IntervalSet> begin(2, IntervalSet::from({{0, 2 * kLook}}));
  EXPECT_FALSE(most_common_place(job_, begin).has_value()) << "four looks tell nothing";
  std::vector<Interval> behind;
  for (int step = 0; step < kSteps; ++step) behind.push_back({step * kStep + 1, step * kStep + kLook});
  EXPECT_FALSE(most_common_place(job_, std::vector<IntervalSet>(2, IntervalSet::from(behind))).has_value())
      << "no look lies in them: that the one before saw something does not count";
}

TEST_F(SlowPlaces, TheLineOfSomeTimesIsOneThatTheRankIsLessInAtOthers) {
  add_rank({"main (train.py:60)", "main (train.py:60)", "log (train.py:12)"});
  const auto nth = [](int look) {
    std::vector<Interval> times;
    for (int step = 0; step < kSteps; ++step)
      times.push_back({step * kStep + look * kLook, step * kStep + (look + 1) * kLook});
    return IntervalSet::from(times);
  };
  const auto found = place_within(job_, 0, nth(2));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->place, "log (train.py:12)");
  EXPECT_EQ(found->looks, kSteps);
  EXPECT_EQ(found->all_looks, kSteps);
  ASSERT_TRUE(place_within(job_, 0, nth(0)).has_value())
      << "in all looks of these times, in two thirds of all";
  EXPECT_FALSE(place_within(job_, 1, nth(2)).has_value()) << "there is no such rank";
  add_rank({"main (train.py:60)", "main (train.py:60)", "main (train.py:60)", "log (train.py:12)"});
  EXPECT_FALSE(place_within(job_, 1, nth(0)).has_value()) << "it is there for three quarters of all its time";
}

TEST_F(SlowPlaces, TheOneRankThatIsInAPlaceIsToldWhereTheOthersWereLookedAtAsOften) {
  add_rank({"main (train.py:60)", "main (train.py:60)"});
  add_rank({"main (train.py:60)", "log (train.py:12)"});
  const std::vector<IntervalSet> second(2, IntervalSet::from([] {
                                          std::vector<Interval> times;
                                          for (int step = 0; step < kSteps; ++step)
                                            times.push_back({step * kStep + kLook, (step + 1) * kStep});
                                          return times;
                                        }()));
  std::vector<OneRanksPlace> found = places_of_one_rank(job_, second);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rank, 1);
  EXPECT_EQ(found[0].place, "log (train.py:12)");
  EXPECT_EQ(found[0].looks, kSteps);
  EXPECT_EQ(found[0].all_looks, kSteps);
  EXPECT_EQ(found[0].others, 0);
  EXPECT_EQ(found[0].all_others, 2 * kSteps);
  EXPECT_TRUE(
      places_of_one_rank(job_, std::vector<IntervalSet>(2, IntervalSet::from({{0, 8 * kStep}}))).empty())
      << "seen eight times, and at another line as often";
  // Elsewhere: the others are there too.
  std::vector<HostRange>& of_rank_0 = job_.ranks[0].host_ranges;
  of_rank_0[0].name = job_.strings.intern("log (train.py:12)");
  found = places_of_one_rank(job_, second);
  ASSERT_EQ(found.size(), 1u) << "once among twenty";
  EXPECT_EQ(found[0].others, 1);
  of_rank_0[2].name = of_rank_0[0].name;
  EXPECT_TRUE(places_of_one_rank(job_, second).empty());
  of_rank_0[0].name = of_rank_0[2].name = job_.strings.intern("log (train.py:9)");
  ASSERT_EQ(places_of_one_rank(job_, second).size(), 1u) << "at another line of the function";
  of_rank_0[0].name = of_rank_0[2].name = of_rank_0[1].name;
  of_rank_0.resize(kSteps - 1);
  EXPECT_TRUE(places_of_one_rank(job_, second).empty()) << "looks at the other are too few to tell";
  job_.ranks.erase(job_.ranks.begin());
  EXPECT_TRUE(places_of_one_rank(job_, second).empty()) << "one rank alone is no comparison";
}

}  // namespace
}  // namespace lockstep::analyzer
