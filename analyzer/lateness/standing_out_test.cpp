#include "analyzer/lateness/standing_out.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::analyzer {
namespace {

// Two values in turn, `apart` from each other: n of them have a standard deviation of half of that, about.
std::vector<double> in_turn(double mean, double apart, int count) {
  std::vector<double> series;
  for (int i = 0; i < count; ++i) series.push_back(mean + (i % 2 == 0 ? apart / 2 : -apart / 2));
  return series;
}

TEST(StandingOut, TakesMoreErrorsWhereStepsVaryByMore) {
  EXPECT_DOUBLE_EQ(errors_wanted(0), 4.5);
  EXPECT_DOUBLE_EQ(errors_wanted(0.05), 4.5);
  EXPECT_DOUBLE_EQ(errors_wanted(0.175), 6.25);
  EXPECT_DOUBLE_EQ(errors_wanted(0.30), 8);
  EXPECT_DOUBLE_EQ(errors_wanted(9), 8);
}

// Of 100 steps of 1000 ns the standard error is a tenth of the deviation.
TEST(StandingOut, IsDecidedByTheErrorOfTheMean) {
  EXPECT_TRUE(stands_out(in_turn(10, 40, 100), 0, 1000));     // deviation 20 ns, error 2: 5 of them
  EXPECT_FALSE(stands_out(in_turn(8, 40, 100), 0, 1000));     // 4
  EXPECT_FALSE(stands_out(in_turn(150, 600, 100), 0, 1000));  // 5 of 30 ns, but steps vary by 30 %
  EXPECT_TRUE(stands_out(in_turn(270, 600, 100), 0, 1000));   // 9
  EXPECT_FALSE(stands_out(in_turn(10, 40, 100), 0.5, 1000));  // a third as many independent steps
  EXPECT_FALSE(stands_out(in_turn(-10, 40, 100), 0, 1000));   // early
}

TEST(StandingOut, NothingDoesInFewSteps) {
  EXPECT_FALSE(stands_out(in_turn(500, 2, 14), 0, 1000));
  EXPECT_TRUE(stands_out(in_turn(500, 2, 16), 0, 1000));
  EXPECT_FALSE(stands_out(in_turn(500, 2, 16), 0.5, 1000));  // worth five
}

}  // namespace
}  // namespace lockstep::analyzer
