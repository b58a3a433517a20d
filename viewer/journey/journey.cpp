#include "viewer/journey/journey.h"

#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_te_engine.h>

#include <cfloat>
#include <cstdlib>
#include <string>
#include <utility>

namespace lockstep::viewer::journey {

namespace {

constexpr int kWidth = 1600;
constexpr int kHeight = 960;
constexpr int kMaxFrames = 20'000;
constexpr int kFramesToAbort = 1'000;
// Software rasterization takes most of a frame's time, and what it draws is tested by pictures.
constexpr int kDrawnFrames = 50;

std::string name_of_test() {
  return testing::UnitTest::GetInstance()->current_test_info()->name();
}

}  // namespace

void Journey::SetUp() {
  Result<VirtualDisplay> started = VirtualDisplay::start(kWidth, kHeight);
  if (!started.ok()) GTEST_SKIP() << started.error().message;
  display_.emplace(std::move(started.value()));
  ::setenv("DISPLAY", display_->name().c_str(), 1);
  ::unsetenv("WAYLAND_DISPLAY");
  Result<std::unique_ptr<Window>> opened = Window::open({"journey", kWidth, kHeight, false});
  if (!opened.ok()) GTEST_SKIP() << opened.error().message;
  window_ = std::move(opened.value());
}

void Journey::open(const Scene& scene, const Scene* other, const std::optional<Session>& session) {
  if (app_ != nullptr) close();
  if (window_ == nullptr) window_ = std::move(Window::open({"journey", kWidth, kHeight, false}).value());
  engine_ = ImGuiTestEngine_CreateContext();
  ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine_);
  io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
  io.ConfigFixedDeltaTime = 1.0F / 60;
  io.ConfigVerboseLevel = io.ConfigVerboseLevelOnError = ImGuiTestVerboseLevel_Debug;
  io.ConfigSavedSettings = false;
  io.ConfigMouseDrawCursor = false;
  io.ConfigRestoreFocusAfterTests = false;
  io.ConfigWatchdogWarning = io.ConfigWatchdogKillTest = FLT_MAX;  // frames are counted here
  ImGuiTestEngine_Start(engine_, ImGui::GetCurrentContext());
  app_ = std::make_unique<App>(scene, dark_theme(), 1.0F);
  if (other != nullptr) app_->compare_with(*other);
  if (session) app_->restore_session(*session);
}

void Journey::close() {
  if (engine_ != nullptr) {
    ImGuiTestEngine_Stop(engine_);
    ImGuiTestEngine_DestroyContext(std::exchange(engine_, nullptr));
  }
  app_.reset();
  window_.reset();
}

void Journey::frame() {
  window_->handle_events(false);
  window_->set_rasterizing(frames_++ % kDrawnFrames == 0);
  window_->frame(app_->theme().background, [this] { app_->frame(); });
  ImGuiTestEngine_PostSwap(engine_);
}

void Journey::play(const Script& script) {
  ImGuiTest* const test = IM_REGISTER_TEST(engine_, "journey", name_of_test().c_str());
  test->GuiFunc = [this](ImGuiTestContext*) {
    if (std::exchange(log_next_frame_, false)) ImGui::LogToBuffer();
  };
  test->TestFunc = [this, &script](ImGuiTestContext* context) {
    User user(*context, *app_, log_next_frame_);
    user.settle();
    script(user);
  };
  ImGuiTestEngine_QueueTest(engine_, test);
  const int begin = frames_;
  const auto runs = [&](int most) {
    return !ImGuiTestEngine_IsTestQueueEmpty(engine_) && frames_ - begin < most;
  };
  while (runs(kMaxFrames)) frame();
  if (!ImGuiTestEngine_IsTestQueueEmpty(engine_)) {
    ADD_FAILURE() << "the script takes more than " << kMaxFrames << " frames";
    ImGuiTestEngine_AbortCurrentTest(engine_);
    while (runs(kMaxFrames + kFramesToAbort)) frame();
  }
  EXPECT_EQ(test->Output.Status, ImGuiTestStatus_Success)
      << "something that the script looks for is not there";
  if (HasFailure()) ADD_FAILURE() << "what was done:\n" << test->Output.Log.GetText();
  ImGuiTestEngine_UnregisterTest(engine_, test);
}

}  // namespace lockstep::viewer::journey
