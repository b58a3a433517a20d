#include "viewer/views/heat_map.h"

#include <gtest/gtest.h>

#include <set>

#include "viewer/testing/recording_canvas.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

TEST(HeatMap, HoldsEveryRanksWaitingInEveryStep) {
  const auto scene = scene_of(synthetic_job());  // late by 0, 0, 300, 100 ns: rank 2 is waited for
  const HeatMap map = make_heat_map(*scene, StepQuantity::barrier_wait);
  EXPECT_EQ(map.steps, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(map.ranks, (std::vector<std::int32_t>{0, 1, 2, 3}));
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_EQ(map.at(0, step), 300);
    EXPECT_EQ(map.at(1, step), 300);
    EXPECT_EQ(map.at(2, step), 0);
    EXPECT_EQ(map.at(3, step), 200);
  }
  EXPECT_EQ(map.least, 0);
  EXPECT_EQ(map.most, 300);
}

TEST(HeatMap, EveryQuantityIsTheReportsOwnFigure) {
  analyzer::Job job = synthetic_job();
  const analyzer::Analysis analysis = analyzer::checked_analysis(job);
  const auto scene = scene_of(job, analysis);
  for (std::size_t i = 0; i < kStepQuantities; ++i) {
    const HeatMap map = make_heat_map(*scene, static_cast<StepQuantity>(i));
    for (const analyzer::StepReport& step : analysis.report.steps)
      EXPECT_EQ(map.at(static_cast<std::size_t>(step.rank), static_cast<std::size_t>(step.step)),
                value_of(step.measures, map.quantity));
  }
}

TEST(HeatMap, WhatIsNotKnownHasNoValue) {
  analyzer::Measures measures;
  measures.window_ns = 7;
  measures.waits_known = false;
  EXPECT_EQ(value_of(measures, StepQuantity::barrier_wait), std::nullopt);
  EXPECT_EQ(value_of(measures, StepQuantity::compute), 0);
  measures.known = false;
  EXPECT_EQ(value_of(measures, StepQuantity::compute), std::nullopt);
  EXPECT_EQ(value_of(measures, StepQuantity::step_time), 7);
}

HeatMap map_of(std::size_t ranks, std::size_t steps) {
  HeatMap map;
  for (std::size_t rank = 0; rank < ranks; ++rank) map.ranks.push_back(static_cast<std::int32_t>(rank));
  for (std::size_t step = 0; step < steps; ++step) map.steps.push_back(static_cast<std::int64_t>(step));
  map.ns.assign(ranks * steps, 10);
  map.least = 10;
  map.most = 1000;
  return map;
}

// Whatever the sizes: a click on the middle of a cell is that cell, and every pixel is some cell.
TEST(HeatMapPlaces, CellsAreHitWhereTheyStand) {
  for (const auto& [ranks, steps] : {std::pair(1, 1), {4, 3}, {7, 50}, {37, 113}}) {
    const HeatMap map = map_of(static_cast<std::size_t>(ranks), static_cast<std::size_t>(steps));
    const HeatMapPlaces places(map, {10, 20, 310, 120});
    for (std::size_t rank = 0; rank < map.ranks.size(); ++rank) {
      for (std::size_t step = 0; step < map.steps.size(); ++step) {
        const Rect rect = places.cell({rank, step});
        const auto hit = places.at((rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2);
        ASSERT_TRUE(hit.has_value());
        EXPECT_EQ(*hit, (HeatCell{rank, step}));
      }
    }
    for (float x = 10; x < 310; ++x)
      for (float y = 20; y < 120; ++y) EXPECT_TRUE(places.at(x, y).has_value()) << x << " " << y;
    EXPECT_FALSE(places.at(9, 50).has_value());
    EXPECT_FALSE(places.at(50, 120).has_value());
  }
}

// 2,000 ranks on 100 pixels: the one that stands out is seen, and hit.
TEST(HeatMapPlaces, WhereCellsShareAPixelTheGreatestIsShown) {
  HeatMap map = map_of(2000, 5000);
  map.ns[1234 * 5000 + 4321] = 1000;
  const Rect area{0, 0, 300, 100};
  const HeatMapPlaces places(map, area);
  const Rect cell = places.cell({1234, 4321});
  EXPECT_EQ(places.at(cell.left, cell.top), (HeatCell{1234, 4321}));
  RecordingCanvas canvas;
  draw_heat_map(canvas, map, heat_boxes(map, area, dark_theme()), area, dark_theme(), std::nullopt,
                std::nullopt);
  int greatest = 0;
  for (const auto& box : canvas.of(RecordingCanvas::Shape::box))
    if (box.color == heat_color(dark_theme(), 1)) ++greatest;
  EXPECT_EQ(greatest, 1);
}

TEST(HeatMap, DrawingCostsPixelsNotCells) {
  const HeatMap map = map_of(2000, 5000);
  RecordingCanvas canvas;
  const Rect area{0, 0, 300, 100};
  draw_heat_map(canvas, map, heat_boxes(map, area, dark_theme()), area, dark_theme(), std::nullopt,
                std::nullopt);
  EXPECT_LE(canvas.of(RecordingCanvas::Shape::box).size(), 101u);  // equal neighbours are one box
}

// What a checkpoint takes would leave all other steps one colour.
TEST(HeatMap, SteadyStepsSetItsScaleAndWhatIsAboveIsMarked) {
  const analyzer::Job job = synthetic_job();
  analyzer::Analysis analysis = analyzer::checked_analysis(job);
  for (analyzer::StepReport& step : analysis.report.steps)
    if (step.step == 0) step.measures.window_ns *= 50;
  analysis.report.steady = analyzer::SteadyReport{{1, 2}, {{0, 0, "checkpoint"}}, analysis.report.ranks};
  const HeatMap map = make_heat_map(*scene_of(job, analysis), StepQuantity::step_time);
  EXPECT_EQ(map.most, kSyntheticStep);
  EXPECT_EQ(map.at(0, 0), 50 * kSyntheticStep);
  int clipped = 0;
  for (const HeatBox& box : heat_boxes(map, {0, 0, 300, 100}, dark_theme())) clipped += box.clipped ? 1 : 0;
  EXPECT_EQ(clipped, 4) << "step 0 of each rank";
}

// In the dark theme the colour of the least is nearly that of the ground.
TEST(HeatMap, WhatIsNotKnownIsStriped) {
  HeatMap map = map_of(3, 4);
  map.ns[1 * 4 + 2].reset();
  const Rect area{0, 0, 400, 90};
  RecordingCanvas canvas;
  draw_heat_map(canvas, map, heat_boxes(map, area, dark_theme()), area, dark_theme(), std::nullopt,
                std::nullopt);
  const auto stripes = canvas.of(RecordingCanvas::Shape::hatch);
  ASSERT_EQ(stripes.size(), 1u);
  EXPECT_EQ(HeatMapPlaces(map, area).at(stripes[0].rect.left, stripes[0].rect.top), (HeatCell{1, 2}));
  EXPECT_EQ(HeatMapPlaces(map, area).at(stripes[0].rect.right - 1, stripes[0].rect.bottom - 1),
            (HeatCell{1, 2}));
  for (const auto& box : canvas.of(RecordingCanvas::Shape::box)) {
    if (box.rect == area) continue;
    EXPECT_TRUE(box.rect.right <= stripes[0].rect.left || box.rect.left >= stripes[0].rect.right ||
                box.rect.bottom <= stripes[0].rect.top || box.rect.top >= stripes[0].rect.bottom);
  }
}

TEST(HeatMap, OfNothingIsEmpty) {
  const auto scene = scene_of(analyzer::Job{}, analyzer::Analysis{});
  const HeatMap map = make_heat_map(*scene, StepQuantity::step_time);
  EXPECT_TRUE(map.ns.empty());
  RecordingCanvas canvas;
  const Rect area{0, 0, 100, 100};
  EXPECT_TRUE(heat_boxes(map, area, dark_theme()).empty());
  draw_heat_map(canvas, map, {}, area, dark_theme(), std::nullopt, std::nullopt);
  EXPECT_FALSE(HeatMapPlaces(map, {0, 0, 100, 100}).at(5, 5).has_value());
}

double luminance(Color color) {
  return 0.2126 * color.r + 0.7152 * color.g + 0.0722 * color.b;
}

// Lightness alone tells more from less.
TEST(HeatColor, RunsOneWayInLightness) {
  for (const Theme& theme : {dark_theme(), light_theme()}) {
    double before = luminance(heat_color(theme, 0));
    for (int i = 1; i <= 100; ++i) {
      const double now = luminance(heat_color(theme, i / 100.0));
      EXPECT_TRUE(theme.dark ? now > before - 0.5 : now < before + 0.5) << i;
      before = now;
    }
  }
}

}  // namespace
}  // namespace lockstep::viewer
