#include "viewer/window/virtual_display.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace lockstep::viewer {
namespace {

std::filesystem::path socket_of(const std::string& display) {
  return "/tmp/.X11-unix/X" + display.substr(1);
}

// PATH set for the length of a test.
class PathVariable {
 public:
  explicit PathVariable(const char* value) : before_(std::getenv("PATH")) { ::setenv("PATH", value, 1); }
  ~PathVariable() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST(VirtualDisplay, LivesAsLongAsTheObject) {
  std::string name;
  {
    Result<VirtualDisplay> display = VirtualDisplay::start(640, 480);
    if (!display.ok()) GTEST_SKIP() << display.error().message;
    name = display.value().name();
    EXPECT_THAT(name, testing::MatchesRegex(":[0-9]+"));
    EXPECT_TRUE(std::filesystem::exists(socket_of(name)));
    const VirtualDisplay moved = std::move(display.value());
    EXPECT_TRUE(std::filesystem::exists(socket_of(name))) << "moving does not end it";
  }
  EXPECT_FALSE(std::filesystem::exists(socket_of(name)));
}

TEST(VirtualDisplay, TwoDoNotMeet) {
  const Result<VirtualDisplay> one = VirtualDisplay::start(640, 480);
  if (!one.ok()) GTEST_SKIP() << one.error().message;
  const Result<VirtualDisplay> two = VirtualDisplay::start(640, 480);
  ASSERT_TRUE(two.ok());
  EXPECT_NE(one.value().name(), two.value().name());
}

TEST(VirtualDisplay, WithoutXvfbSaysWhatToInstall) {
  const PathVariable path("/nonexistent");
  const Result<VirtualDisplay> display = VirtualDisplay::start(640, 480);
  ASSERT_FALSE(display.ok());
  EXPECT_THAT(display.error().message, testing::HasSubstr("install the package xvfb"));
}

}  // namespace
}  // namespace lockstep::viewer
