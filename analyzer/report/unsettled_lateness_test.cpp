// A rank that may be late is said to be open: neither denied nor blamed.
#include "analyzer/report/unsettled_lateness.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

LatenessReport of_two(double share, double chance) {
  LatenessReport lateness;
  lateness.can_tell = true;
  lateness.steps = 40;
  lateness.steps_to_tell = 28'828;
  lateness.step_ns = 100'000'000;
  lateness.ranks.resize(2);
  lateness.ranks[0].rank = 0;
  lateness.ranks[1].rank = 1;
  lateness.ranks[0].share = -share;
  lateness.ranks[1].share = share;
  lateness.ranks[1].chance = chance;
  return lateness;
}

TEST(UnsettledLateness, IsThatOfARankThatIsLateBeyondChanceAndNotForCertain) {
  const LatenessReport lateness = of_two(0.265, 0.006);
  const auto unsettled = unsettled_lateness(lateness);
  ASSERT_TRUE(unsettled.has_value());
  EXPECT_EQ(unsettled->rank->rank, 1);
  EXPECT_EQ(unsettled->steps_wanted, 370) << "28,828 · (0.03 / 0.265)²";
}

TEST(UnsettledLateness, WantsNoStepsWhereAsManyWereThere) {
  EXPECT_EQ(unsettled_lateness(of_two(0.9, 0.006))->steps_wanted, 0);
}

// What is little more than the least has to be seen above it, too: (0.01 / 0.01)², beside (0.03 / 0.03)²; and
// (0.01 / 0.005)².
TEST(UnsettledLateness, WantsMoreStepsNearTheLeastThatMatters) {
  LatenessReport lateness = of_two(0.03, 0.006);
  lateness.steps_to_tell = 100;
  EXPECT_EQ(unsettled_lateness(lateness)->steps_wanted, 100);
  lateness.ranks[1].share = 0.025;
  EXPECT_EQ(unsettled_lateness(lateness)->steps_wanted, 400);
  lateness.ranks[1].share = 0.02;
  EXPECT_EQ(unsettled_lateness(lateness)->steps_wanted, 0) << "no number of steps";
}

TEST(UnsettledLateness, IsNotSaidOfChanceOrOfLittle) {
  EXPECT_FALSE(unsettled_lateness(of_two(0.265, 0.03)).has_value());
  EXPECT_FALSE(unsettled_lateness(of_two(0.019, 0.001)).has_value());
}

TEST(UnsettledLateness, IsNotSaidWhereOneIsLateOrNobodyCanTell) {
  LatenessReport late = of_two(0.265, 0.006);
  late.ranks[1].is_late = true;
  EXPECT_FALSE(unsettled_lateness(late).has_value());
  LatenessReport few = of_two(0.265, 0.006);
  few.can_tell = false;
  EXPECT_FALSE(unsettled_lateness(few).has_value());
}

TEST(UnsettledLateness, OfClocksThatLeaveMoreOpenNoNumberOfStepsTells) {
  LatenessReport lateness = of_two(0.265, 0.006);
  lateness.ranks[1].mean_ns = 26'500'000;
  lateness.ranks[1].clock_error_ns = 26'499'999;
  EXPECT_FALSE(unsettled_lateness(lateness)->within_clock_error);
  EXPECT_EQ(unsettled_lateness(lateness)->steps_wanted, 370);
  lateness.ranks[1].clock_error_ns = 26'500'000;
  EXPECT_TRUE(unsettled_lateness(lateness)->within_clock_error);
  EXPECT_EQ(unsettled_lateness(lateness)->steps_wanted, 0);
}

TEST(LatenessThatShows, FallsWithTheRootOfTheNumberOfSteps) {
  LatenessReport lateness = of_two(0, 1);
  lateness.steps_to_tell = 16 * lateness.steps;
  EXPECT_DOUBLE_EQ(lateness_that_shows(lateness), 0.12);
  lateness.steps_to_tell = lateness.steps;
  EXPECT_DOUBLE_EQ(lateness_that_shows(lateness), 0.03);
  lateness.steps_to_tell = lateness.steps / 4;
  EXPECT_DOUBLE_EQ(lateness_that_shows(lateness), 0.03) << "less was never asked for";
}

}  // namespace
}  // namespace lockstep::analyzer
