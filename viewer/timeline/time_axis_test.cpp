#include "viewer/timeline/time_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace lockstep::viewer {
namespace {

constexpr Nanoseconds kMin = std::numeric_limits<Nanoseconds>::min();
constexpr Nanoseconds kMax = std::numeric_limits<Nanoseconds>::max();
constexpr Nanoseconds kToday = 1'700'000'000'123'456'789;  // ns since 1970, beyond what a double holds

TEST(Distance, SpansTheWholeOfInt64) {
  EXPECT_EQ(distance(kMin, kMax), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(distance(-3, 4), 7u);
}

TEST(SaturatingAdd, StopsAtTheEnds) {
  EXPECT_EQ(saturating_add(kMax - 1, Nanoseconds{5}), kMax);
  EXPECT_EQ(saturating_add(kMin + 1, Nanoseconds{-5}), kMin);
  EXPECT_EQ(saturating_add(kMax, 1e30), kMax);
  EXPECT_EQ(saturating_add(kMax, -1e30), kMin);
  EXPECT_EQ(saturating_add(kToday, 1.0), kToday + 1);
}

TEST(TimeAxis, PlacesSingleNanosecondsOfTodayExactly) {
  const TimeAxis axis{{kToday, 0, 10}, 100, 1000};
  for (int ns = 0; ns <= 10; ++ns) {
    EXPECT_EQ(axis.x(kToday + ns), 100 + 100.0 * ns);
    if (ns < 10) {
      EXPECT_EQ(axis.time(100 + 100.0 * ns), kToday + ns);
      EXPECT_EQ(axis.time(100 + 100.0 * ns + 99), kToday + ns);
    }
  }
}

TEST(TimeAxis, AViewBetweenTwoNanosecondsMovesByPixels) {
  const TimeAxis axis{{kToday, 0.25, 10}, 0, 1000};
  EXPECT_EQ(axis.x(kToday), -25);
  EXPECT_EQ(axis.x(kToday + 1), 75);
  EXPECT_EQ(axis.time(74), kToday);
  EXPECT_EQ(axis.time(75), kToday + 1);
  EXPECT_EQ(axis.visible().begin, kToday);
  EXPECT_EQ(axis.visible().end, kToday + 11);
}

TEST(Zoom, KeepsTheInstantUnderThePointer) {
  const TimeRange content{kToday, kToday + 10'000'000'000};
  std::mt19937_64 random(1);
  TimeView view = fit(content);
  for (int i = 0; i < 2000; ++i) {
    const double position = static_cast<double>(random() % 1000) / 1000;
    const double factor = i % 3 == 0 ? 1.25 : 0.8;
    const TimeAxis before{view, 0, 1600};
    const double x = position * 1600;
    const Nanoseconds at = before.time(x);
    const double into = x - before.x(at);
    view = zoom(view, position, factor, content);
    const TimeAxis after{view, 0, 1600};
    const bool limited = view.span <= kSmallestSpan || view.span >= 10'000'000'000;
    // The same instant, within a pixel, unless the content's edge has pushed the view.
    const bool inside = view.begin > content.begin && after.visible().end < content.end;
    if (!limited && inside) {
      const double expected = after.x(at) + into * before.ns_per_pixel() / after.ns_per_pixel();
      ASSERT_NEAR(expected, x, 1.0) << i;
    }
  }
}

TEST(Zoom, ReachesSingleNanosecondsAndStopsThere) {
  const TimeRange content{kToday, kToday + 3'600'000'000'000};
  TimeView view = fit(content);
  for (int i = 0; i < 300; ++i) view = zoom(view, 0.5, 0.8, content);
  EXPECT_EQ(view.span, kSmallestSpan);
  EXPECT_GE(view.begin, content.begin);
  EXPECT_LE(view.begin, content.end);
}

TEST(Zoom, OutAgainShowsAllTheContent) {
  const TimeRange content{kToday, kToday + 1'000'000};
  TimeView view = fit(content);
  for (int i = 0; i < 100; ++i) view = zoom(view, 0.9, 0.8, content);
  for (int i = 0; i < 100; ++i) view = zoom(view, 0.1, 1.25, content);
  const TimeRange visible = TimeAxis{view, 0, 1000}.visible();
  EXPECT_LE(visible.begin, content.begin);
  EXPECT_GE(visible.end, content.end);
}

TEST(Pan, MovesByLessThanANanosecond) {
  const TimeRange content{kToday, kToday + 1'000};
  TimeView view{kToday + 500, 0, 10};
  for (int i = 0; i < 10; ++i) view = pan(view, 0.05, content);  // half a nanosecond each
  EXPECT_EQ(view.begin, kToday + 505);
  EXPECT_NEAR(view.fraction, 0, 1e-9);
}

TEST(Pan, NeverLosesTheContent) {
  const TimeRange content{kToday, kToday + 1'000'000};
  for (const double share : {-50.0, 50.0}) {
    TimeView view = fit(content);
    view = zoom(view, 0.5, 0.01, content);
    for (int i = 0; i < 50; ++i) view = pan(view, share, content);
    const TimeRange visible = TimeAxis{view, 0, 1000}.visible();
    EXPECT_LE(visible.begin, content.end);
    EXPECT_GE(visible.end, content.begin);
  }
}

TEST(View, SurvivesTheWholeOfInt64) {
  const TimeRange content{kMin, kMax};
  TimeView view = fit(content);
  EXPECT_TRUE(std::isfinite(view.span));
  for (int i = 0; i < 400; ++i) {
    view = i % 2 == 0 ? zoom(view, 1.0, 0.7, content) : pan(view, 3, content);
    const TimeAxis axis{view, 0, 1000};
    ASSERT_TRUE(std::isfinite(axis.x(kMin)));
    ASSERT_TRUE(std::isfinite(axis.x(kMax)));
    ASSERT_LE(axis.visible().begin, axis.visible().end);
    ASSERT_GE(view.fraction, 0);
    ASSERT_LT(view.fraction, 1);
  }
}

TEST(View, OfASingleInstantIsWiderThanNothing) {
  for (const Nanoseconds at : {kMin, Nanoseconds{0}, kMax}) {
    const TimeView view = clamp(fit({at, at}), {at, at});
    EXPECT_EQ(view.span, kSmallestSpan);
    EXPECT_TRUE(std::isfinite(TimeAxis({view, 0, 100}).x(at)));
  }
}

std::vector<std::string> labels(const Ruler& ruler) {
  std::vector<std::string> found;
  for (const Tick& tick : ruler.ticks) {
    if (tick.labelled) found.push_back(tick.label);
  }
  return found;
}

using testing::ElementsAre;

TEST(Ruler, CountsFromTheOriginInARoundUnit) {
  const TimeAxis axis{{kToday, 0, 20'000'000}, 0, 1000};
  const Ruler ruler = make_ruler(axis, kToday, 200);
  EXPECT_EQ(ruler.base, "");
  EXPECT_THAT(labels(ruler), ElementsAre("0", "5 ms", "10 ms", "15 ms", "20 ms"));
}

TEST(Ruler, HasNegativeTimesBeforeTheOrigin) {
  const TimeAxis axis{{-1'000, 0, 2'000}, 0, 1000};
  EXPECT_THAT(labels(make_ruler(axis, 0, 250)), ElementsAre("−1.0 µs", "−0.5 µs", "0", "0.5 µs", "1.0 µs"));
}

TEST(Ruler, SplitsLongLabelsIntoABaseAndOffsets) {
  // 40 ns, 12.345678 s after the origin.
  const TimeAxis axis{{kToday + 12'345'678'000, 0, 40}, 0, 1000};
  const Ruler ruler = make_ruler(axis, kToday, 200);
  EXPECT_EQ(ruler.base, "12.345678 s");
  EXPECT_THAT(labels(ruler), ElementsAre("+0 ns", "+10 ns", "+20 ns", "+30 ns", "+40 ns"));
}

TEST(Ruler, TicksStandWhereTheirTimesAre) {
  const TimeAxis axis{{1'000'003, 0.5, 1'000}, 40, 1000};
  const Ruler ruler = make_ruler(axis, 0, 100);
  std::vector<double> at;
  for (const Tick& tick : ruler.ticks) {
    if (tick.labelled) at.push_back(tick.x);
  }
  ASSERT_EQ(at.size(), 10u);
  EXPECT_EQ(at.front(), axis.x(1'000'100));
  EXPECT_EQ(at.back(), axis.x(1'001'000));
}

TEST(Ruler, IsShortAtEveryZoom) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; ++i) {
    const double span = std::pow(10.0, 0.9 + static_cast<double>(random() % 1820) / 100);
    const auto begin = static_cast<Nanoseconds>(random());
    const auto origin = static_cast<Nanoseconds>(random());
    const TimeAxis axis{{begin, 0, span}, 0, 1500};
    const Ruler ruler = make_ruler(axis, origin, 100);
    ASSERT_LE(ruler.ticks.size(), 90u);
    double last = -1e9;
    for (const Tick& tick : ruler.ticks) {
      ASSERT_LE(tick.label.size(), 24u) << tick.label;
      if (!tick.labelled) continue;
      ASSERT_GE(tick.x - last, 99) << "labels overlap";
      last = tick.x;
    }
  }
}

}  // namespace
}  // namespace lockstep::viewer
