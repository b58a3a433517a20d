#include "viewer/journey/user.h"

#include <gtest/gtest.h>
#include <imgui_te_internal.h>

namespace lockstep::viewer::journey {

namespace {

constexpr int kQuietFrames = 3;
constexpr int kMaxFrames = 600;  // what has not settled by then never does
constexpr int kRest = 40;        // frames of a sixtieth of a second: more than half a second

ImVec2 to_imgui(Point point) {
  return {point.x, point.y};
}

}  // namespace

Places User::places(bool second) const {
  const TimelinePane* const other = second ? app_.second_pane() : nullptr;
  return Places(other != nullptr ? *other : app_.pane());
}

void User::settle() {
  int quiet = 0;
  for (int frame = 0; frame < kMaxFrames && quiet < kQuietFrames; ++frame) {
    app_.wait_for_figures();
    engine_.Yield();
    quiet = app_.busy() ? 0 : quiet + 1;
  }
  EXPECT_EQ(quiet, kQuietFrames) << "the window never comes to rest";
}

void User::rest() {
  settle();
  engine_.Yield(kRest);
}

void User::point_to(Point point) {
  engine_.MouseMoveToPos(to_imgui(point));
}

void User::click(Point point) {
  point_to(point);
  engine_.MouseClick();
  settle();
}

void User::double_click(Point point) {
  point_to(point);
  engine_.MouseDoubleClick();
  settle();
}

void User::drag(Point from, Point to, ImGuiKeyChord held) {
  point_to(from);
  if (held != 0) engine_.KeyDown(held);
  engine_.MouseDown();
  point_to({(from.x + to.x) / 2, (from.y + to.y) / 2});
  point_to(to);
  engine_.MouseUp();
  if (held != 0) engine_.KeyUp(held);
  settle();
}

void User::wheel(float notches, ImGuiKeyChord held) {
  if (held != 0) engine_.KeyDown(held);
  engine_.MouseWheelY(notches);
  if (held != 0) engine_.KeyUp(held);
  settle();
}

void User::press(ImGuiKeyChord key, char writes) {
  ImVector<ImGuiTestInput>& queue = engine_.Inputs->Queue;
  queue.push_back(ImGuiTestInput::ForKeyChord(key, true));
  if (writes != '\0') queue.push_back(ImGuiTestInput::ForChar(static_cast<ImWchar>(writes)));
  engine_.Yield();
  queue.push_back(ImGuiTestInput::ForKeyChord(key, false));
  settle();
}

void User::hold(ImGuiKey key, int frames) {
  engine_.KeyDown(key);
  engine_.Yield(frames);
  engine_.KeyUp(key);
  settle();
}

void User::type(const std::string& text) {
  engine_.KeyChars(text.c_str());
  settle();
}

void User::show(const std::string& panel) {
  const ImGuiWindow* const window = ImGui::FindWindowByName(panel.c_str());
  ASSERT_NE(window, nullptr) << panel;
  engine_.ItemClick(window->TabId);
  settle();
}

bool User::sees(const std::string& window) const {
  const ImGuiWindow* const found = ImGui::FindWindowByName(window.c_str());
  return found != nullptr && found->Active && !found->Hidden;
}

std::string User::drawn_text() {
  log_next_frame_ = true;
  engine_.Yield();
  return engine_.UiContext->LogBuffer.c_str();
}

}  // namespace lockstep::viewer::journey
