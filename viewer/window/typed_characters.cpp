#include "viewer/window/typed_characters.h"

#include <imgui.h>

namespace lockstep::viewer {

namespace {

bool is_modifier(int key) {
  return key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper;
}

}  // namespace

void TypedCharacters::read() {
  bool held = false;
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_GamepadStart; ++key) {
    if (is_modifier(key)) continue;
    held = held || ImGui::IsKeyDown(static_cast<ImGuiKey>(key));
    // The character may come a frame after its key.
    pressed_ = pressed_ || ImGui::IsKeyPressed(static_cast<ImGuiKey>(key), false);
  }
  // What comes without a key that is held, from an input method for example, repeats nothing.
  repeating_ = held && !pressed_;
  if (!ImGui::GetIO().InputQueueCharacters.empty()) pressed_ = false;
}

bool TypedCharacters::typed(char character, bool repeat) const {
  const ImGuiIO& io = ImGui::GetIO();
  // The right Alt is AltGr wherever it helps to write a character at all.
  const bool alt_gr = ImGui::IsKeyDown(ImGuiKey_RightAlt);
  if (io.KeySuper || ((io.KeyCtrl || io.KeyAlt) && !alt_gr)) return false;
  if (repeating_ && !repeat) return false;
  return io.InputQueueCharacters.contains(static_cast<ImWchar>(character));
}

}  // namespace lockstep::viewer
