#include "viewer/timeline/counter_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "viewer/testing/view_fixture.h"
#include "viewer/timeline/describe.h"

namespace lockstep::viewer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

struct Made {
  std::vector<analyzer::CounterPoint> points;
  std::vector<ValueRange> blocks;
  CounterSeries series;

  Made(std::vector<analyzer::CounterPoint> what, std::string_view name)
      : points(std::move(what)), blocks(counter_blocks(points)) {
    series = {points, blocks, unit_of(name), range_of(points, blocks, 0, points.size())};
  }
};

ValueRange only(double value) {
  return {value, value};
}

TEST(CounterColumns, AGaugeHoldsUntilTheNextPointAndARateSinceTheOneBefore) {
  const Made gauge({{10, 1}, {20, 2}, {30, 3}}, "loss");
  const TimeAxis axis{{0, 0, 50}, 0, 50};  // a nanosecond a pixel
  EXPECT_THAT(counter_columns(gauge.series, axis, 40),
              ElementsAre(CounterColumn{10, 11, only(1)}, CounterColumn{11, 20, only(1)},
                          CounterColumn{20, 21, {1, 2}}, CounterColumn{21, 30, only(2)},
                          CounterColumn{30, 31, {2, 3}}, CounterColumn{31, 40, only(3)}));
  const Made rate({{10, 1}, {20, 2}, {30, 3}}, "faults (per s)");
  EXPECT_THAT(counter_columns(rate.series, axis, 40),
              ElementsAre(CounterColumn{10, 11, {1, 2}}, CounterColumn{11, 20, only(2)},
                          CounterColumn{20, 21, {2, 3}}, CounterColumn{21, 30, only(3)},
                          CounterColumn{30, 31, only(3)}));
}

TEST(CounterColumns, AnUnknownValueLeavesAGap) {
  const Made gauge({{0, 1}, {10, std::nan("")}, {20, 2}}, "loss");
  double known = 0;
  for (const CounterColumn& column : counter_columns(gauge.series, TimeAxis{{0, 0, 30}, 0, 30}, 30))
    known += column.right - column.left;
  EXPECT_EQ(known, 21) << "all but the nine columns after the tenth";
}

// Every value that the counter takes in view is within the column of its pixel, and no column says more than
// the points near it.
TEST(CounterColumns, HoldEveryPointInView) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 400; ++round) {
    std::vector<analyzer::CounterPoint> points;
    Nanoseconds time = static_cast<Nanoseconds>(random() % 100);
    const std::size_t count = random() % 2'000;
    for (std::size_t i = 0; i < count; ++i)
      points.push_back({time += static_cast<Nanoseconds>(random() % (round % 2 == 0 ? 3 : 300)),
                        static_cast<double>(random() % 1'000)});
    const Made made(points, round % 3 == 0 ? "faults (per s)" : "loss");
    const auto begin = static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(time + 1));
    const TimeAxis axis{{begin, 0, static_cast<double>(1 + random() % 5'000)}, 100, 300};
    const auto columns = counter_columns(made.series, axis, time + 50);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      ASSERT_GE(columns[i].left, i == 0 ? 100 : columns[i - 1].right) << "in order, apart";
      ASSERT_LT(columns[i].left, columns[i].right);
      ASSERT_LE(columns[i].right, 400);
    }
    const TimeRange visible = axis.visible();
    for (const analyzer::CounterPoint& point : points) {
      if (point.time < visible.begin || point.time >= visible.end) continue;
      const double x = axis.x(point.time);
      const bool held = std::any_of(columns.begin(), columns.end(), [&](const CounterColumn& column) {
        // Rounding may put a point at a pixel's border into the one before it.
        return column.left <= x + 1e-6 && x < column.right + 1e-6 && column.range.low <= point.value &&
               point.value <= column.range.high;
      });
      ASSERT_TRUE(held) << "round " << round << ", x " << x;
    }
    ASSERT_LE(columns.size(), 2 * 300U + 1) << "pixels, not points";
  }
}

TEST(CounterColumns, FarTimesAreHarmless) {
  const Made gauge(
      {{std::numeric_limits<Nanoseconds>::min(), 1}, {std::numeric_limits<Nanoseconds>::max(), 2}}, "loss");
  EXPECT_THAT(counter_columns(gauge.series, TimeAxis{{0, 0, 100}, 0, 100}, 1'000),
              ElementsAre(CounterColumn{0, 100, only(1)}));
  EXPECT_TRUE(counter_columns({}, TimeAxis{{0, 0, 100}, 0, 100}, 1'000).empty());
}

analyzer::Job job_with_counters() {
  analyzer::Job job = synthetic_job();
  job.ranks[0].counters = {{"memory (bytes)", {{0, 1'024}, {1'200, 4'096}}}, {"once", {{0, 3}}}};
  job.ranks[1].counters = {{"memory (bytes)", {{0, 8'192}, {600, 0}}}};
  return job;
}

TEST(CounterLanes, StandBelowARankOnceTheyAreAskedFor) {
  View view(job_with_counters());
  const int before = view.layout.ranks[0].height;
  EXPECT_EQ(view.place(0, LaneRole::counter).height, 0);
  EXPECT_TRUE(view.apply({.toggle_counters = true}));
  const RowPlace place = view.place(0, LaneRole::counter);
  EXPECT_EQ(place.height, view.sizes.lane);
  EXPECT_EQ(view.layout.ranks[0].height, before + view.sizes.lane + view.sizes.row_gap)
      << "what was told once has no lane";
  EXPECT_GT(place.y, view.place(0, LaneRole::host).y);
  EXPECT_TRUE(view.apply({.toggle_counters = true}));
  EXPECT_EQ(view.layout.ranks[0].height, before);
}

TEST(CounterLanes, HaveOneScaleOnAllRanks) {
  View view(job_with_counters());
  view.apply({.toggle_counters = true});
  view.show(0, 2'400);
  const RecordingCanvas canvas = view.draw();
  const auto highest = [&](std::size_t rank) {
    const Rect area = view.area(rank, LaneRole::counter);
    float top = area.bottom;
    for (const auto& box : canvas.of(RecordingCanvas::Shape::box))
      if (box.rect.left >= area.left && box.rect.top > area.top - 2 && box.rect.bottom <= area.bottom &&
          box.rect.height() < area.height())
        top = std::min(top, box.rect.top);
    return (area.bottom - top) / area.height();
  };
  EXPECT_NEAR(highest(1), 1, 0.15) << "8 KiB";
  EXPECT_NEAR(highest(0), 0.5, 0.15) << "4 KiB";
  std::vector<std::string> texts;
  for (const auto& call : canvas.of(RecordingCanvas::Shape::text)) texts.push_back(call.text);
  EXPECT_THAT(texts, Contains("memory"));
  EXPECT_THAT(texts, Contains("to 8.00 KiB"));
}

TEST(CounterLanes, SayTheirValueAtAnInstant) {
  View view(job_with_counters());
  view.apply({.toggle_counters = true});
  view.show(0, 2'400);
  const Point at = view.point(0, LaneRole::counter, 1'300);
  const Hit hit = hit_test(view.frame(), at.x, at.y);
  ASSERT_TRUE(hit.row);
  EXPECT_FALSE(hit.box);
  const Description description = describe_counter(*view.scene, 0, *hit.row, 1'300);
  EXPECT_EQ(description.title, "memory");
  EXPECT_THAT(description.facts, Contains(Field(&Fact::value, "4.00 KiB")));
  EXPECT_THAT(describe_counter(*view.scene, 0, *hit.row, -1).facts, Contains(Field(&Fact::value, "–")));
}

}  // namespace
}  // namespace lockstep::viewer
