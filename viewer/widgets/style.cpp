#include "viewer/widgets/style.h"

#include <imgui.h>

#include <limits>

#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

void apply_style(const Theme& theme, float scale) {
  const float font_size = ImGui::GetStyle().FontSizeBase;
  ImGuiStyle style;
  if (theme.dark) {
    ImGui::StyleColorsDark(&style);
  } else {
    ImGui::StyleColorsLight(&style);
  }
  style.WindowRounding = style.FrameRounding = style.TabRounding = style.PopupRounding = 3;
  style.ScrollbarRounding = 4;
  style.WindowBorderSize = 0;
  style.PopupBorderSize = 1;
  style.TabBorderSize = 0;
  style.TabBarBorderSize = 0;
  style.TabBarOverlineSize = 0;
  style.DockingSeparatorSize = 2;
  style.WindowPadding = {12, 10};
  style.FramePadding = {8, 4};
  style.ItemSpacing = {8, 5};
  style.CellPadding = {5, 2};
  style.ScrollbarSize = 10;
  style.WindowMenuButtonPosition = ImGuiDir_None;

  const ImVec4 panel = to_vec4(theme.panel);
  const ImVec4 edge = to_vec4(theme.edge);
  const ImVec4 background = to_vec4(theme.background);
  const ImVec4 text = to_vec4(theme.text);
  const ImVec4 dim = to_vec4(theme.dim_text);
  const ImVec4 quiet = to_vec4(with_alpha(theme.dim_text, 0.22));
  ImVec4* colors = style.Colors;
  colors[ImGuiCol_Text] = text;
  colors[ImGuiCol_TextDisabled] = dim;
  colors[ImGuiCol_WindowBg] = panel;
  colors[ImGuiCol_ChildBg] = {0, 0, 0, 0};
  colors[ImGuiCol_PopupBg] = to_vec4(theme.background);
  colors[ImGuiCol_Border] = edge;
  colors[ImGuiCol_Separator] = edge;
  colors[ImGuiCol_SeparatorHovered] = dim;
  colors[ImGuiCol_SeparatorActive] = dim;
  for (const int bar : {ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed, ImGuiCol_Tab,
                        ImGuiCol_TabDimmed}) {
    colors[bar] = background;
  }
  for (const int tab : {ImGuiCol_TabSelected, ImGuiCol_TabDimmedSelected, ImGuiCol_TabHovered})
    colors[tab] = panel;
  colors[ImGuiCol_DockingEmptyBg] = background;
  colors[ImGuiCol_DockingPreview] = quiet;
  colors[ImGuiCol_ScrollbarBg] = {0, 0, 0, 0};
  colors[ImGuiCol_ScrollbarGrab] = quiet;
  for (const int soft : {ImGuiCol_Header, ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive, ImGuiCol_Button,
                         ImGuiCol_ButtonHovered, ImGuiCol_ButtonActive, ImGuiCol_FrameBg}) {
    colors[soft] = quiet;
  }
  colors[ImGuiCol_TableHeaderBg] = {0, 0, 0, 0};
  colors[ImGuiCol_TableBorderLight] = edge;
  colors[ImGuiCol_TableBorderStrong] = edge;
  colors[ImGuiCol_NavCursor] = {0, 0, 0, 0};
  style.ScaleAllSizes(scale);
  // The names on tabs are whole, and what does not fit scrolls. No size to scale.
  style.TabMinWidthShrink = std::numeric_limits<float>::max();
  style.FontSizeBase = font_size;
  ImGui::GetStyle() = style;
}

}  // namespace lockstep::viewer
