// What `lockstep-view` says where there is no display that it can use: messages that name the way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"
#include "viewer/window/virtual_display.h"

namespace lockstep::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ViewerDisplay : public testing::Test {
 protected:
  void SetUp() override { write_two_ranks(folder_.path() / "run"); }
  // The leaks of the OpenGL driver are not ours.
  static Outcome view(std::vector<std::string> arguments,
                      const std::vector<std::string>& environment = {
                          "DISPLAY=", "WAYLAND_DISPLAY=", "ASAN_OPTIONS=detect_leaks=0"}) {
    arguments.insert(arguments.begin(), binary("lockstep-view"));
    return run(arguments, environment);
  }

  TemporaryFolder folder_;
};

TEST_F(ViewerDisplay, WithoutADisplayNamesTheWayOut) {
  const Outcome outcome = view({folder_ / "run"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, AllOf(HasSubstr("no display"), HasSubstr("--screenshot")));
}

TEST_F(ViewerDisplay, AWaylandThatIsNotUsableNamesTheWayOut) {
  const Outcome outcome = view({folder_ / "run"}, {"DISPLAY=", "WAYLAND_DISPLAY=no-compositor"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, AllOf(HasSubstr("'no-compositor'"), HasSubstr("--screenshot")));
}

TEST_F(ViewerDisplay, ADisplayWithoutOpenGlNamesTheWayOut) {
  const auto display = viewer::VirtualDisplay::start(640, 480);
  if (!display.ok()) GTEST_SKIP() << display.error().message;
  const Outcome outcome = view(
      {folder_ / "run"}, {"DISPLAY=" + display.value().name(),
                          "WAYLAND_DISPLAY=", "MESA_GL_VERSION_OVERRIDE=2.1", "ASAN_OPTIONS=detect_leaks=0"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, AllOf(HasSubstr("OpenGL 3.3"), HasSubstr("LIBGL_ALWAYS_SOFTWARE=1"),
                                            HasSubstr("--screenshot")));
}

TEST_F(ViewerDisplay, ADisplayThatDoesNotAnswerNamesTheWayOut) {
  const Outcome outcome = view({folder_ / "run"}, {"DISPLAY=:4711", "WAYLAND_DISPLAY="});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, AllOf(HasSubstr(":4711"), HasSubstr("--screenshot")));
}

TEST_F(ViewerDisplay, WithoutXvfbNamesThePackage) {
  const Outcome outcome = view({folder_ / "run", "--screenshot", folder_ / "run.png"},
                               {"DISPLAY=", "WAYLAND_DISPLAY=", "PATH=/nonexistent"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, HasSubstr("install the package xvfb"));
}

}  // namespace
}  // namespace lockstep::end_to_end
