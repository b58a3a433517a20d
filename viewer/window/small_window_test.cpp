// In windows too small for the usual arrangement of the panels.
#include "viewer/testing/shell_fixture.h"

namespace lockstep::viewer {
namespace {

using SmallWindow = ShellTest;

// What is arranged for a small window suits no large one, and the other way round.
TEST_F(SmallWindow, OnlyTheUsualArrangementOfPanelsIsKept) {
  folder_.write("run/rank-0.json", "");
  layout_file_ = folder_.path() / "layout.ini";
  const auto width_of_timeline = [this](float scale) {
    scale_ = scale;
    start();
    open("run");
    frames();
    const float width = shell_->app()->timeline_area().width();
    shell_.reset();
    return width;
  };
  EXPECT_GT(width_of_timeline(2), 900) << "panels below";
  EXPECT_FALSE(std::filesystem::exists(layout_file_));
  EXPECT_LT(width_of_timeline(1), 700) << "panels at the right";
  ASSERT_TRUE(std::filesystem::exists(layout_file_));
  const std::string kept = test::read_whole_file(layout_file_);
  EXPECT_GT(width_of_timeline(2), 900);
  EXPECT_EQ(test::read_whole_file(layout_file_), kept);
  EXPECT_LT(width_of_timeline(1), 700);
}

TEST_F(SmallWindow, WhatIsToBeSeenBringsTheTimelineToTheFront) {
  folder_.write("run/rank-0.json", "");
  scale_ = 3;
  start();
  open("run");
  frames(10);
  App& app = *shell_->app();
  app.show_panel("Findings");
  frames();
  const TimeView before = app.state().view;
  frames();
  EXPECT_EQ(app.state().view, before) << "nobody asked for anything";
  app.execute({.range = TimeRange{app.state().view.begin + 100, app.state().view.begin + 300}});
  frames();
  EXPECT_NE(app.state().view, before);
  shared_window()->set_pointer(Point{app.timeline_area().right - 100, app.timeline_area().bottom - 100});
  frames(2);
  EXPECT_TRUE(app.pane().hovered());
  shared_window()->set_pointer(std::nullopt);
}

TEST_F(SmallWindow, NoMarkIsSetOnATimelineBehindOtherPanels) {
  folder_.write("run/rank-0.json", "");
  scale_ = 3;
  start();
  open("run");
  frames(10);
  App& app = *shell_->app();
  shared_window()->set_pointer(Point{app.timeline_area().right - 100, app.timeline_area().bottom - 100});
  frames(2);
  press(ImGuiKey_M);
  ASSERT_EQ(app.state().marks.size(), 1U) << "the pointer is on the lanes";
  press(ImGuiKey_M);
  ASSERT_TRUE(app.state().marks.empty());
  app.show_panel("Findings");
  frames();
  press(ImGuiKey_M);
  EXPECT_TRUE(app.state().marks.empty());
  shared_window()->set_pointer(std::nullopt);
}

}  // namespace
}  // namespace lockstep::viewer
