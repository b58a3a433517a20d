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
  constexpr std::size_t kMany = 1'000'000'000;
  EXPECT_NEAR(errors_wanted(0, kMany), 3.7, 1e-6);
  EXPECT_NEAR(errors_wanted(0.05, kMany), 3.7, 1e-6);
  EXPECT_NEAR(errors_wanted(0.175, kMany), (3.7 + 8) / 2, 1e-6);
  EXPECT_DOUBLE_EQ(errors_wanted(0.30, kMany), 8);
  EXPECT_DOUBLE_EQ(errors_wanted(9, kMany), 8);
}

// Student's distribution: 3.7 deviations of a normal one leave 0.0108 % above; so do 4.53 with 18 degrees of
// freedom, of which the first term of the difference is nine tenths.
TEST(StandingOut, TakesMoreErrorsInFewSteps) {
  EXPECT_NEAR(errors_wanted(0, 20), 3.7 + 54.353 / 72, 1e-9);
  EXPECT_NEAR(errors_wanted(0, 50), 3.7 + 54.353 / 192, 1e-9);
  EXPECT_DOUBLE_EQ(errors_wanted(0, 0), 8) << "no more than of noisy steps";
}

// Of 100 steps of 1000 ns the standard error is a tenth of the deviation.
TEST(StandingOut, IsDecidedByTheErrorOfTheMean) {
  EXPECT_TRUE(stands_out(in_turn(10, 40, 100), 0, 1000));     // deviation 20 ns, error 2: 5 of them
  EXPECT_FALSE(stands_out(in_turn(7, 40, 100), 0, 1000));     // 3.5
  EXPECT_FALSE(stands_out(in_turn(150, 600, 100), 0, 1000));  // 5 of 30 ns, but steps vary by 30 %
  EXPECT_TRUE(stands_out(in_turn(270, 600, 100), 0, 1000));   // 9
  EXPECT_FALSE(stands_out(in_turn(10, 40, 100), 0.5, 1000));  // a third as many independent steps
  EXPECT_FALSE(stands_out(in_turn(-10, 40, 100), 0, 1000));   // early
}

TEST(StandingOut, NothingDoesInFewSteps) {
  EXPECT_FALSE(stands_out(in_turn(500, 2, 14), 0, 1000));
  EXPECT_TRUE(stands_out(in_turn(500, 2, 16), 0, 1000));
  EXPECT_FALSE(stands_out(in_turn(500, 2, 16), 0.7, 1000));  // worth 2.8
}

}  // namespace
}  // namespace lockstep::analyzer
