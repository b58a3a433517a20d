// Keys of the shell: chords, and the Escape that closes what stands over a page.
#include <imgui_internal.h>

#include "viewer/testing/shell_fixture.h"

namespace lockstep::viewer {
namespace {

bool popup_open() {
  return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

TEST_F(ShellTest, EscapeClosesThePromptAndNothingElse) {
  folder_.write("run/rank-0.json", "");
  shell_->show_welcome();
  frames();
  press(ImGuiKey_O, ImGuiMod_Ctrl);
  EXPECT_TRUE(popup_open());
  press(ImGuiKey_Escape);
  EXPECT_FALSE(popup_open());
  EXPECT_EQ(shell_->kind(), Kind::welcome);
  open("run");
  const Item item{1, 0, 0, 0};
  shell_->app()->state().selected = item;
  press(ImGuiKey_O, ImGuiMod_Ctrl);
  EXPECT_TRUE(popup_open());
  // Also where the field has not the keyboard: after a click beside it.
  ImGui::ClearActiveID();
  frames();
  press(ImGuiKey_Escape);
  EXPECT_FALSE(popup_open());
  EXPECT_EQ(shell_->app()->state().selected, item);
  press(ImGuiKey_Escape);
  EXPECT_FALSE(shell_->app()->state().selected.has_value());
}

// All at once, Ctrl let go of before the letter: what a slow frame sees of fast fingers.
TEST_F(ShellTest, AChordThatOneFrameSeesWholeIsThatChord) {
  folder_.write("run/rank-0.json", "");
  open("run");
  const bool dark = shell_->app()->theme().dark;
  const auto add = [](ImGuiKey key, bool down) { ImGui::GetIO().AddKeyEvent(key, down); };
  const auto chord = [&](ImGuiKey key) {
    add(ImGuiMod_Ctrl, true);
    add(ImGuiKey_LeftCtrl, true);
    frames(1);
    add(key, true);
    add(ImGuiMod_Ctrl, false);
    add(ImGuiKey_LeftCtrl, false);
    add(key, false);
    frames(4);
  };
  chord(ImGuiKey_T);
  EXPECT_EQ(shell_->app()->theme().dark, dark) << "Ctrl T is not T";
  chord(ImGuiKey_P);
  EXPECT_TRUE(popup_open());
  press(ImGuiKey_Escape);
  ASSERT_FALSE(popup_open());
  // And a letter is one where Ctrl comes right after it.
  add(ImGuiKey_T, true);
  add(ImGuiMod_Ctrl, true);
  frames(4);
  add(ImGuiKey_T, false);
  add(ImGuiMod_Ctrl, false);
  frames(4);
  EXPECT_NE(shell_->app()->theme().dark, dark);
  chord(ImGuiKey_Q);
  EXPECT_TRUE(shell_->wants_to_quit());
}

TEST_F(ShellTest, ThePaletteStaysWithinASmallWindow) {
  folder_.write("run/rank-0.json", "");
  scale_ = 3;
  start();
  open("run");
  press(ImGuiKey_P, ImGuiMod_Ctrl);
  frames();
  ASSERT_TRUE(popup_open());
  const ImGuiWindow* const palette = ImGui::GetCurrentContext()->OpenPopupStack.back().Window;
  EXPECT_GE(palette->Pos.x, 0);
  EXPECT_LE(palette->Pos.x + palette->Size.x, 1000);
  EXPECT_LE(palette->Pos.y + palette->Size.y, 700);
}

}  // namespace
}  // namespace lockstep::viewer
