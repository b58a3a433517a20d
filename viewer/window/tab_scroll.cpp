#include "viewer/window/tab_scroll.h"

#include <imgui_internal.h>

namespace lockstep::viewer {

void scroll_to_tab_of(const char* name) {
  const ImGuiWindow* const window = ImGui::FindWindowByName(name);
  if (window == nullptr || window->DockNode == nullptr || window->DockNode->TabBar == nullptr) return;
  window->DockNode->TabBar->NextScrollToTabId = window->TabId;
}

bool end_tab_scrolls() {
  bool any = false;
  for (const ImGuiStoragePair& pair : ImGui::GetCurrentContext()->DockContext.Nodes.Data) {
    const auto* const node = static_cast<const ImGuiDockNode*>(pair.val_p);
    if (node == nullptr || node->TabBar == nullptr) continue;
    any = any || node->TabBar->ScrollingAnim != node->TabBar->ScrollingTarget;
    node->TabBar->ScrollingAnim = node->TabBar->ScrollingTarget;
  }
  return any;
}

}  // namespace lockstep::viewer
