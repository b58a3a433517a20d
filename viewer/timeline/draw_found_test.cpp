// A search's hits on the timeline: beside the hits themselves, and bounded however many there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using Shape = RecordingCanvas::Shape;

// Every computation of a rank, as a search would find them.
std::vector<SearchHit> computations(const View& view, std::uint32_t rank) {
  std::vector<SearchHit> hits;
  const auto& lanes = view.scene->timeline().ranks[rank].lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane].role != LaneRole::compute) continue;
    const Row& row = lanes[lane].rows[0];
    for (std::uint32_t at = 0; at < row.begin.size(); ++at)
      hits.push_back({{rank, lane, 0, at}, row.begin[at], row.end[at]});
  }
  return hits;
}

std::vector<Rect> found_boxes(const View& view, const RecordingCanvas& canvas) {
  std::vector<Rect> boxes;
  for (const auto& call : canvas.of(Shape::box))
    if (call.color == view.theme.found) boxes.push_back(call.rect);
  return boxes;
}

std::vector<Rect> drawn(const View& view) {
  RecordingCanvas canvas;
  draw_found(canvas, view.frame());
  EXPECT_TRUE(canvas.clips_closed());
  return found_boxes(view, canvas);
}

TEST(DrawFound, NothingFoundDrawsNothing) {
  View view;
  EXPECT_TRUE(drawn(view).empty());
}

TEST(DrawFound, ABarAboveEachHitAndATickOnTheRuler) {
  View view;
  view.show(0, 3 * kSyntheticStep);
  const std::vector<SearchHit> hits = computations(view, 2);
  ASSERT_EQ(hits.size(), 3u);
  view.state.found = hits;
  const std::vector<Rect> boxes = drawn(view);
  ASSERT_EQ(boxes.size(), 6u);
  const Rect row = view.area(2, LaneRole::compute);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(boxes[i].left, view.x(hits[i].begin), 1);
    EXPECT_NEAR(boxes[i].right, view.x(hits[i].end), 1);
    EXPECT_NEAR(boxes[i].bottom, row.top, 2);
    EXPECT_NEAR(boxes[i + 3].left, view.x(hits[i].begin), 1) << "on the ruler";
    EXPECT_EQ(boxes[i + 3].bottom, view.regions.ruler.bottom);
  }
}

TEST(DrawFound, WhatIsNotOnTheScreenIsNotDrawn) {
  View view;
  view.show(kSyntheticStep, 2 * kSyntheticStep);
  const std::vector<SearchHit> hits = computations(view, 2);
  view.state.found = hits;
  EXPECT_EQ(drawn(view).size(), 2u) << "the second step's";
  view.state.scroll = 100'000;
  EXPECT_EQ(drawn(view).size(), 1u) << "its tick";
}

TEST(DrawFound, AHundredThousandHitsCostPixels) {
  View view;
  view.show(0, 3 * kSyntheticStep);
  std::vector<SearchHit> hits;
  for (int i = 0; i < 20'000; ++i)
    for (const SearchHit& hit : computations(view, 1)) hits.push_back(hit);
  std::stable_sort(hits.begin(), hits.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  view.state.found = hits;
  EXPECT_LE(drawn(view).size(), 2 * 992u);
}

}  // namespace
}  // namespace lockstep::viewer
