#include "viewer/views/axis_limits.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace lockstep::viewer {
namespace {

void expect_countable(double low, double high) {
  const AxisLimits limits = axis_limits(low, high);
  ASSERT_TRUE(std::isfinite(limits.high - limits.low)) << low << " to " << high;
  const double part = (limits.high - limits.low) / 1000;
  EXPECT_GT(part, 0);
  for (const double at : {limits.low, (limits.low + limits.high) / 2, limits.high}) {
    EXPECT_NE(at + part, at) << low << " to " << high;
    EXPECT_NE(at - part, at) << low << " to " << high;
  }
}

TEST(AxisLimits, AreThemselvesWhereTheyCanBeCounted) {
  EXPECT_EQ(axis_limits(-3, 7.5).low, -3);
  EXPECT_EQ(axis_limits(-3, 7.5).high, 7.5);
  // Eight nanoseconds an hour after the run's begin, in milliseconds.
  EXPECT_EQ(axis_limits(3.6e6, 3.6e6 + 8e-6).high, 3.6e6 + 8e-6);
}

TEST(AxisLimits, OfOneValueAreAroundIt) {
  EXPECT_EQ(axis_limits(4, 4).low, 3.5);
  EXPECT_EQ(axis_limits(4, 4).high, 4.5);
  EXPECT_LT(axis_limits(1e18, 1e18).low, 1e18);
  EXPECT_GT(axis_limits(1e18, 1e18).high, 1e18);
}

TEST(AxisLimits, CanAlwaysBeCountedAlong) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double greatest = std::numeric_limits<double>::max();
  for (const double low :
       {-kInfinity, -greatest, -1e300, -1.0, 0.0, 1e-300, 1e16, 1.7e18, greatest, kInfinity})
    for (const double more : {0.0, 1e-300, 2.0, 256.0, 1e300, kInfinity})
      if (!std::isnan(low + more)) expect_countable(low, low + more);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-30, 30);
  for (int i = 0; i < 10'000; ++i) {
    const double low = std::pow(10, exponent(random)) * (i % 2 == 0 ? 1 : -1);
    expect_countable(low, low + std::pow(10, exponent(random)));
  }
}

}  // namespace
}  // namespace lockstep::viewer
