// Moving over time: wheel, keys, drags, and back.
#include <cmath>

#include "viewer/journey/journey.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer::journey {
namespace {

class Zoom : public Journey {
 protected:
  // Long enough to zoom over decades.
  Zoom() : scene_(scene_of(synthetic_job({.steps = 400}))) {}
  std::unique_ptr<Scene> scene_;
};

TEST_F(Zoom, TheWheelKeepsTheInstantUnderThePointer) {
  open(*scene_);
  play([](User& user) {
    for (const float across : {0.25F, 0.5F, 0.9F}) {
      const Point at = user.places().on_lanes(across, 0.4F);
      const Nanoseconds instant = user.places().time(at.x);
      user.point_to(at);
      for (const float notches : {1.0F, 3.0F, 9.0F, -2.0F, 12.0F, -5.0F}) {
        const double before = user.state().view.span;
        user.wheel(notches);
        EXPECT_EQ(user.state().view.span<before, notches> 0);
        EXPECT_NEAR(user.places().x(instant), at.x,
                    1 + 1 / user.state().view.span * user.places().lanes().width())
            << notches << " notches; within a pixel, or the width of a nanosecond";
      }
      user.press(ImGuiKey_F);
    }
  });
}

TEST_F(Zoom, WithControlTheWheelIsFine) {
  open(*scene_);
  play([](User& user) {
    user.point_to(user.places().on_lanes(0.5F, 0.4F));
    const double before = user.state().view.span;
    user.wheel(1, ImGuiMod_Ctrl);
    const double fine = user.state().view.span / before;
    user.wheel(1);
    EXPECT_LT(fine, 1);
    EXPECT_GT(fine, user.state().view.span / before / fine);
  });
}

TEST_F(Zoom, KeysZoomAndMove) {
  open(*scene_);
  play([](User& user) {
    user.point_to(user.places().on_lanes(0.5F, 0.4F));
    const auto middle = [&user] {
      return static_cast<double>(user.state().view.begin) + user.state().view.span / 2;
    };
    const double all = user.state().view.span;
    user.hold(ImGuiKey_W, 60);
    const double close = user.state().view.span;
    EXPECT_LT(close, all / 4) << "a second of W";
    double before = middle();
    user.hold(ImGuiKey_D, 20);
    EXPECT_GT(middle(), before);
    EXPECT_EQ(user.state().view.span, close);
    before = middle();
    user.hold(ImGuiKey_A, 40);
    EXPECT_LT(middle(), before);
    user.hold(ImGuiKey_S, 60);
    EXPECT_GT(user.state().view.span, 2 * close);
  });
}

TEST_F(Zoom, FShowsAllAndBackspaceGoesBack) {
  open(*scene_);
  play([](User& user) {
    const TimeView first = user.state().view;
    user.rest();
    user.point_to(user.places().on_lanes(0.3F, 0.4F));
    user.wheel(5);
    user.wheel(5);
    user.rest();
    const TimeView close = user.state().view;
    user.press(ImGuiKey_F);
    user.rest();
    EXPECT_TRUE(user.state().view == first) << "F: everything";
    user.press(ImGuiKey_Backspace);
    EXPECT_TRUE(user.state().view == close) << "before F";
    user.press(ImGuiKey_Backspace);
    EXPECT_TRUE(user.state().view == first) << "both turns of the wheel are one movement";
    user.press(ImGuiKey_Backspace);
    EXPECT_TRUE(user.state().view == first) << "nothing before it";
  });
}

TEST_F(Zoom, ADragTakesTheInstantAlong) {
  open(*scene_);
  play([](User& user) {
    user.point_to(user.places().on_lanes(0.5F, 0.4F));
    user.wheel(8);
    const Point from = user.places().on_lanes(0.6F, 0.4F);
    const Point to = user.places().on_lanes(0.2F, 0.4F);
    const Nanoseconds instant = user.places().time(from.x);
    user.drag(from, to);
    EXPECT_NEAR(user.places().x(instant), to.x, 1.5);
    EXPECT_FALSE(user.state().selected) << "a drag is no click";
    EXPECT_FALSE(user.state().measured);
  });
}

TEST_F(Zoom, TheMapGoesThere) {
  open(*scene_);
  play([](User& user) {
    user.point_to(user.places().on_lanes(0.5F, 0.4F));
    user.wheel(12);
    const Rect map = user.places().minimap();
    user.click({map.left + 0.8F * map.width(), (map.top + map.bottom) / 2});
    const double middle = static_cast<double>(user.state().view.begin) + user.state().view.span / 2;
    EXPECT_NEAR(middle / (400.0 * kSyntheticStep), 0.8, 0.03);
  });
}

TEST_F(Zoom, ADoubleClickShowsTheEvent) {
  open(*scene_);
  play([](User& user) {
    const Nanoseconds begin = 100 * kSyntheticStep;
    user.state().view = fit({begin, begin + 4 * kSyntheticStep});
    user.settle();
    user.double_click(user.places().point(1, LaneRole::compute, begin + 300));
    // 400 ns of compute, with room around it.
    EXPECT_GE(user.state().view.span, 400);
    EXPECT_LT(user.state().view.span, 800);
    EXPECT_LT(user.state().view.begin, begin + 100);
    EXPECT_GT(static_cast<double>(user.state().view.begin) + user.state().view.span,
              static_cast<double>(begin + 500));
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey
