#include "viewer/views/counters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace lockstep::viewer {
namespace {

using Points = std::vector<analyzer::CounterPoint>;

std::vector<std::string> labels(double low, double high, std::string_view counter) {
  std::vector<std::string> found;
  for (const ValueTick& tick : value_ticks({low, high}, unit_of(counter), 5)) found.push_back(tick.label);
  return found;
}

TEST(Counters, TicksAreRound) {
  EXPECT_EQ(labels(0, 64.0 * 1024 * 1024, "memory peak"),
            (std::vector<std::string>{"0 MiB", "20 MiB", "40 MiB", "60 MiB"}));
  EXPECT_EQ(labels(0, 1, "delay (share)"), (std::vector<std::string>{"0 %", "50 %", "100 %"}));
  EXPECT_EQ(labels(3.8, 5.7, "loss"), (std::vector<std::string>{"4.0", "4.5", "5.0", "5.5"}));
  EXPECT_EQ(labels(-1, 1, "loss"), (std::vector<std::string>{"−1.0", "−0.5", "0.0", "0.5", "1.0"}));
}

TEST(Counters, TicksOfAnyRangeAreFewInOrderAndApart) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-300, 300), digit(-1, 1);
  for (int i = 0; i < 20'000; ++i) {
    const double a = digit(random) * std::pow(10, exponent(random));
    const double b =
        i % 3 == 0 ? a * (1 + 1e-9 * digit(random)) : digit(random) * std::pow(10, exponent(random));
    const AxisLimits limits = axis_limits(std::min(a, b), std::max(a, b));
    for (const char* name : {"loss", "memory", "x (share)"}) {
      const auto ticks = value_ticks(limits, unit_of(name), 5);
      ASSERT_LE(ticks.size(), 5U);
      for (std::size_t t = 0; t < ticks.size(); ++t) {
        const double slack = (limits.high - limits.low) * 1e-6;
        ASSERT_GE(ticks[t].value, limits.low - slack);
        ASSERT_LE(ticks[t].value, limits.high + slack);
        if (t > 0) {
          ASSERT_GT(ticks[t].value, ticks[t - 1].value);
        }
      }
    }
  }
}

// Whatever is left out, the least and the greatest in view are there, and lines reach both edges.
TEST(Counters, LinesKeepTheirExtremes) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    Points points;
    Nanoseconds time = 0;
    const std::size_t count = random() % 3000;
    for (std::size_t i = 0; i < count; ++i)
      points.push_back(
          {time += static_cast<Nanoseconds>(random() % 5), static_cast<double>(random() % 1000)});
    const auto begin = static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(time + 1));
    const TimeAxis axis{{begin, 0, static_cast<double>(1 + random() % 4000)}, 0, 500};
    constexpr std::size_t kMost = 100;
    const PlottedLine line = plot_line(points, unit_of("loss"), axis, time, kMost);
    ASSERT_LE(line.x.size(), kMost + 2);
    ASSERT_TRUE(std::is_sorted(line.x.begin(), line.x.end()));
    const TimeRange range = axis.visible();
    double least = 1e9, greatest = -1;
    for (const analyzer::CounterPoint& point : points) {
      if (point.time < range.begin || point.time > range.end) continue;
      least = std::min(least, point.value);
      greatest = std::max(greatest, point.value);
    }
    if (greatest < 0) continue;
    ASSERT_LE(*std::min_element(line.y.begin(), line.y.end()), least);
    ASSERT_GE(*std::max_element(line.y.begin(), line.y.end()), greatest);
  }
}

TEST(Counters, LinesFarBeyondTheEdgesStayNear) {
  const Points points{
      {std::numeric_limits<Nanoseconds>::min(), 1}, {0, 2}, {std::numeric_limits<Nanoseconds>::max(), 3}};
  const PlottedLine line = plot_line(points, unit_of("loss"), TimeAxis{{-4, 0, 8}, 0, 500}, 0);
  ASSERT_EQ(line.x.size(), 3U);
  EXPECT_EQ(line.x.front(), -500);
  EXPECT_EQ(line.x.back(), 1000);
}

// A quantity that is told once is a line, not nothing.
TEST(Counters, ALastValueGoesOnToTheRunsEnd) {
  const Points points{{10, 7}};
  const TimeAxis axis{{0, 0, 100}, 0, 500};
  const PlottedLine line = plot_line(points, unit_of("memory gradients"), axis, 90);
  EXPECT_EQ(line.x, (std::vector<double>{50, 450}));
  EXPECT_EQ(line.y, (std::vector<double>{7, 7}));
  // A rate says nothing of the time after its last point.
  EXPECT_EQ(plot_line(points, unit_of("faults (per s)"), axis, 90).x.size(), 1U);
  EXPECT_TRUE(plot_line({}, unit_of("loss"), axis, 90).x.empty());
}

TEST(Counters, LimitsAreOfFiniteValuesWithRoom) {
  const double infinity = std::numeric_limits<double>::infinity();
  const AxisLimits limits = value_limits({{{0, 1}, {10, infinity}}, {{0}, {30}}});
  EXPECT_EQ(limits.low, 9);
  EXPECT_EQ(limits.high, 31);
  EXPECT_EQ(value_limits({{{0}, {200}}}).low, 190);
  EXPECT_LT(value_limits({{{0}, {0}}}).low, 0);
  EXPECT_LT(value_limits({}).low, value_limits({}).high);
}

}  // namespace
}  // namespace lockstep::viewer
