// The map of the whole run, on a canvas that records.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using analyzer::Cause;
using Shape = RecordingCanvas::Shape;

TEST(Minimap, FollowsTheOrder) {
  View view;
  const auto waiting_at = [&] {
    std::vector<float> tops;
    for (const auto& box : within(view.draw(), Shape::box, view.regions.minimap))
      if (box.color == cause_color(view.theme, Cause::barrier_wait)) tops.push_back(box.rect.top);
    return std::set<float>(tops.begin(), tops.end());
  };
  // Rank 2, the third, never waits.
  const float row = view.regions.minimap.height() / 4;
  EXPECT_EQ(waiting_at().count(view.regions.minimap.top + std::floor(2 * row)), 0u);
  EXPECT_EQ(waiting_at().count(view.regions.minimap.top), 1u);
  view.state.order.by = OrderBy::lost;
  view.arrange();
  EXPECT_EQ(waiting_at().count(view.regions.minimap.top), 0u) << "it stands first now";
  EXPECT_EQ(waiting_at().count(view.regions.minimap.top + std::floor(2 * row)), 1u);
  view.state.order.filter = "0:1";
  view.arrange();
  EXPECT_EQ(waiting_at().size(), 2u);
}

TEST(Minimap, ShowsEveryRankAndWhereTheViewIs) {
  View view;
  view.show(1'200, 2'400);
  const RecordingCanvas canvas = view.draw();
  const auto frames = within(canvas, Shape::frame, {0, 0, 2000, view.regions.minimap.bottom + 1});
  ASSERT_EQ(frames.size(), 1u);
  const TimeAxis whole = view.minimap.axis(*view.scene, view.regions.minimap);
  EXPECT_NEAR(frames[0].rect.left, whole.x(1'200), 1);
  EXPECT_NEAR(frames[0].rect.right, whole.x(2'400), 1);
  const auto boxes = within(canvas, Shape::box, view.regions.minimap);
  std::set<float> tops;
  for (const auto& box : boxes) {
    if (box.color == cause_color(view.theme, Cause::compute)) tops.insert(box.rect.top);
  }
  EXPECT_EQ(tops.size(), 4u);
}

}  // namespace
}  // namespace lockstep::viewer
