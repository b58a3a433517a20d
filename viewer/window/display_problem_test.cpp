#include "viewer/window/display_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::viewer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// As GLFW says it: 3.3 is built for one of them, 3.4 for both.
constexpr const char* kX11 = "3.3.8 X11 GLX EGL OSMesa clock_gettime evdev shared";
constexpr const char* kWayland = "3.3.8 Wayland EGL OSMesa clock_gettime evdev shared";
constexpr const char* kBoth = "3.4.0 Wayland X11 GLX Null EGL OSMesa monotonic shared";

TEST(DisplayProblem, WithoutAnyDisplay) {
  for (const char* const glfw : {kX11, kWayland, kBoth})
    EXPECT_THAT(explain({"", "", glfw, ""}),
                AllOf(HasSubstr("no display"), HasSubstr("--screenshot"), HasSubstr("ssh -X")));
}

TEST(DisplayProblem, WaylandWithoutX11NamesXwaylandWhereGlfwNeedsIt) {
  EXPECT_THAT(explain({"", "wayland-0", kX11, "X11: The DISPLAY environment variable is missing"}),
              AllOf(HasSubstr("'wayland-0'"), HasSubstr("Xwayland"), HasSubstr("libglfw3-wayland"),
                    HasSubstr("--screenshot")));
  for (const char* const glfw : {kWayland, kBoth})
    EXPECT_THAT(explain({"", "wayland-0", glfw, "Wayland: Failed to connect to display"}),
                AllOf(HasSubstr("'wayland-0': Wayland: Failed"), Not(HasSubstr("Xwayland"))));
}

TEST(DisplayProblem, X11WhereGlfwKnowsWaylandAlone) {
  EXPECT_THAT(explain({":0", "", kWayland, "Wayland: Failed to connect to display"}),
              AllOf(HasSubstr("':0'"), HasSubstr("install the package libglfw3 in place"),
                    Not(HasSubstr("--screenshot"))));
}

TEST(DisplayProblem, WhatDoesNotAnswerIsNamed) {
  EXPECT_THAT(explain({":7", "", kX11, "X11: Failed to open display :7"}),
              AllOf(HasSubstr("can't use the display ':7': X11: Failed"), HasSubstr("--screenshot")));
  EXPECT_THAT(explain({":7", "wayland-0", kX11, "X11: Failed"}), HasSubstr("':7'"));
  EXPECT_THAT(explain({":7", "wayland-0", kWayland, "Wayland: Failed"}), HasSubstr("'wayland-0'"));
}

}  // namespace
}  // namespace lockstep::viewer
