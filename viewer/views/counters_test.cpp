#include "viewer/views/counters.h"

#include <gtest/gtest.h>

#include <algorithm>
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

struct Made {
  Points points;
  std::vector<ValueRange> blocks;
  CounterSeries series;

  Made(Points what, std::string_view name) : points(std::move(what)), blocks(counter_blocks(points)) {
    series = {points, blocks, unit_of(name), range_of(points, blocks, 0, points.size())};
  }
};

TEST(Counters, ALineGoesThroughWhatTheCounterWasInEachPixel) {
  const Made made({{10, 1}, {20, 5}}, "loss");
  const PlottedLine line = plot_line(made.series, TimeAxis{{0, 0, 50}, 0, 50}, 30);
  EXPECT_EQ(line.x, (std::vector<double>{10, 11, 11, 20, 20, 20, 21, 30}));
  EXPECT_EQ(line.y, (std::vector<double>{1, 1, 1, 1, 1, 5, 5, 5}));
}

// A burst of points and then few: these are not lost beside it, and neither is its greatest.
TEST(Counters, ABurstHidesNothing) {
  Points points;
  for (int i = 0; i < 200'000; ++i) points.push_back({i / 100, i == 777 ? 1'000.0 : 1.0});
  for (int i = 1; i <= 9; ++i) points.push_back({i * 10'000, static_cast<double>(10 * i)});
  const Made made(points, "loss");
  const PlottedLine line = plot_line(made.series, TimeAxis{{0, 0, 100'000}, 0, 1'000}, 100'000);
  EXPECT_EQ(*std::max_element(line.y.begin(), line.y.end()), 1'000);
  for (int i = 1; i <= 9; ++i) EXPECT_NE(std::find(line.y.begin(), line.y.end(), 10 * i), line.y.end()) << i;
  EXPECT_LE(line.x.size(), 3'000U) << "pixels, not points";
  EXPECT_TRUE(std::is_sorted(line.x.begin(), line.x.end()));
}

TEST(Counters, ALineHasGapsWhereNobodyKnows) {
  const Made made({{0, 1}, {10, std::nan("")}, {20, 2}}, "loss");
  const PlottedLine line = plot_line(made.series, TimeAxis{{0, 0, 30}, 0, 30}, 30);
  EXPECT_EQ(std::count_if(line.y.begin(), line.y.end(), [](double y) { return std::isnan(y); }), 1);
}

// A quantity that is told once is a line, not nothing.
TEST(Counters, ALastValueGoesOnToTheRunsEnd) {
  const TimeAxis axis{{0, 0, 100}, 0, 500};
  const Made gauge({{10, 7}}, "memory gradients");
  EXPECT_EQ(plot_line(gauge.series, axis, 90).x.back(), 450);
  // A rate says nothing of the time after its last point.
  const Made rate({{10, 7}}, "faults (per s)");
  EXPECT_EQ(plot_line(rate.series, axis, 90).x.back(), 51);
  EXPECT_TRUE(plot_line({}, axis, 90).x.empty());
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
