#include "viewer/opening/draw_preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/recording_canvas.h"

namespace lockstep::viewer {
namespace {

using Shape = RecordingCanvas::Shape;
using testing::Contains;
using testing::IsEmpty;

RunPreview some_ranks(int count) {
  RunPreview preview;
  preview.length = 1000;
  for (int rank = 0; rank < count; ++rank)
    preview.ranks.push_back({rank, "node", {{0, 500, 40}, {500, 1000, 10}}, {{250, 300, 5}}});
  return preview;
}

std::vector<RecordingCanvas::Call> lanes_of(const RecordingCanvas& canvas, Color color) {
  auto boxes = canvas.of(Shape::box);
  std::erase_if(boxes, [color](const auto& call) { return with_alpha(call.color, 1) != color; });
  return boxes;
}

TEST(DrawPreview, BusyTimesAreBrighterAndStandWhereTheyWere) {
  RecordingCanvas canvas;
  const Rect area{0, 0, 463, 200};  // 400 of lanes beside labels of 63
  draw_preview(canvas, some_ranks(1), area, dark_theme());
  EXPECT_TRUE(canvas.clips_closed());
  EXPECT_THAT(canvas.texts(), Contains("rank 0"));
  const auto computing = lanes_of(canvas, cause_color(dark_theme(), analyzer::Cause::compute));
  ASSERT_EQ(computing.size(), 2u);
  EXPECT_EQ(computing[0].rect.left, 63);
  EXPECT_EQ(computing[0].rect.right, 263);
  EXPECT_EQ(computing[1].rect.right, 463);
  EXPECT_GT(computing[0].color.a, computing[1].color.a);
  const auto communicating = lanes_of(canvas, cause_color(dark_theme(), analyzer::Cause::transfer));
  ASSERT_EQ(communicating.size(), 1u);
  EXPECT_EQ(communicating[0].rect.left, 163);
  EXPECT_EQ(communicating[0].rect.top, computing[0].rect.bottom);
}

TEST(DrawPreview, ManyRanksStayWithinTheArea) {
  for (const int count : {2, 30, 1000, 5000}) {
    RecordingCanvas canvas;
    const Rect area{10, 20, 810, 320};
    draw_preview(canvas, some_ranks(count), area, light_theme());
    for (const auto& call : canvas.of(Shape::box)) {
      EXPECT_GE(call.rect.top, area.top);
      EXPECT_LE(call.rect.bottom, area.bottom) << count;
      EXPECT_LE(call.rect.right, area.right);
    }
    EXPECT_LE(canvas.of(Shape::box).size(), 150u * 4);
  }
}

TEST(DrawPreview, NothingIsDrawnOfNothing) {
  RecordingCanvas canvas;
  draw_preview(canvas, {}, {0, 0, 100, 100}, dark_theme());
  draw_preview(canvas, some_ranks(3), {0, 0, 0, 0}, dark_theme());
  EXPECT_THAT(canvas.calls(), IsEmpty());
}

}  // namespace
}  // namespace lockstep::viewer
