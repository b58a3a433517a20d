#include "viewer/window/help.h"

#include "viewer/panels/keys.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

void draw_help(bool& open, const Theme& theme, const Fonts& fonts) {
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(
      {viewport.WorkPos.x + viewport.WorkSize.x / 2, viewport.WorkPos.y + viewport.WorkSize.y / 2},
      ImGuiCond_Always, {0.5F, 0.5F});
  constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoDocking |
                                      ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoMove |
                                      ImGuiWindowFlags_NoSavedSettings;
  if (ImGui::Begin("Keys", &open, kFlags)) {
    for (const KeyGroup& group : key_groups()) {
      heading(group.title, fonts, theme);
      if (!ImGui::BeginTable(group.title, 2, ImGuiTableFlags_SizingFixedFit)) continue;
      for (const KeyHelp& key : group.keys) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::PushFont(fonts.bold, fonts.small_size);
        ImGui::TextUnformatted(key.keys);
        ImGui::PopFont();
        ImGui::TableNextColumn();
        ImGui::PushFont(nullptr, fonts.small_size);
        ImGui::TextUnformatted(key.what);
        ImGui::PopFont();
      }
      ImGui::EndTable();
    }
  }
  ImGui::End();
}

}  // namespace lockstep::viewer
