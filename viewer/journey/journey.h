// The viewer's real window, driven by scripts: a test opens a run on a private display and plays them.
//
//   TEST_F(Journey, …) {
//     open(*scene);
//     play([](User& user) { user.press(ImGuiKey_F); EXPECT_… });
//   }
//
// Scripts run on a thread of Dear ImGui's Test Engine, which lets either it or the window run, never both.
// Time is counted in frames of a sixtieth of a second, so that a script sees the same on a slow machine.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

#include "viewer/journey/user.h"
#include "viewer/views/session.h"
#include "viewer/window/app.h"
#include "viewer/window/virtual_display.h"
#include "viewer/window/window.h"

struct ImGuiTestEngine;

namespace lockstep::viewer::journey {

class Journey : public testing::Test {
 protected:
  using Script = std::function<void(User&)>;

  ~Journey() override { close(); }
  // Skips the test where there is no Xvfb or no OpenGL.
  void SetUp() override;
  // The scenes outlive the window: until close(), the next open() or the test's end.
  void open(const Scene& scene, const Scene* other = nullptr, const std::optional<Session>& session = {});
  void close();
  // Once the window has settled. Fails the test, with the engine's log, where the script fails, what it looks
  // for is not there, or Dear ImGui was used wrongly.
  void play(const Script& script);
  App& app() { return *app_; }

 private:
  void frame();

  std::optional<VirtualDisplay> display_;
  std::unique_ptr<Window> window_;
  ImGuiTestEngine* engine_ = nullptr;
  std::unique_ptr<App> app_;
  bool log_next_frame_ = false;
  int frames_ = 0;
};

}  // namespace lockstep::viewer::journey
