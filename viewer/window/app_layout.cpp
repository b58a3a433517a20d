// Where the panels stand at first, and the file in which their arrangement is kept.
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>

#include "viewer/panels/panel_list.h"
#include "viewer/views/arrangement.h"
#include "viewer/window/app.h"

namespace lockstep::viewer {

namespace {

constexpr float kSideWidth = 360;  // pixels at a scale of 1, of the panels at the right

const char* first_panel_in(PanelPlace place) {
  const std::span<const Panel* const> all = all_panels();
  const auto first = std::ranges::find(all, place, &Panel::place);
  return first == all.end() ? "" : (*first)->title;
}

}  // namespace

void App::keep_layout_in(const std::filesystem::path& file, Point window) {
  if (file.empty() || choose_places(window.x, window.y, scale_) != PanelPlaces::around) return;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  // Of a run without steps the map of them has no place of its own: an arrangement of another kind.
  std::filesystem::path own = file;
  if (!has_steps()) own.replace_filename(file.stem().string() + "-without-steps" + file.extension().string());
  layout_file_ = own.string();
  docked_ = std::filesystem::exists(own, error);
  ImGui::GetIO().IniFilename = layout_file_.c_str();  // Dear ImGui reads and writes it
}

bool App::has_steps() const {
  return panels::steps.needs(scene_);
}

bool App::tabs_are_many() const {
  const ImGuiStyle& style = ImGui::GetStyle();
  float above = 0, below = 0;
  for (const Panel* const panel : panels()) {
    const float width =
        ImGui::CalcTextSize(panel->title).x + 2 * style.FramePadding.x + style.ItemInnerSpacing.x;
    // Where the panels of steps have no place of their own, they are below too.
    if (panel->place == PanelPlace::above)
      above += width;
    else if (panel->place == PanelPlace::below || !has_steps())
      below += width;
  }
  // Tabs leave the frame's padding at both ends.
  return std::max(above, below) > kSideWidth * scale_ - 2 * style.FramePadding.x;
}

void App::stop_keeping_layout() {
  if (layout_file_.empty()) return;
  ImGui::GetIO().IniFilename = nullptr;
  layout_file_.clear();
}

void App::arrange_docks(unsigned dock_space) {
  docked_ = true;
  const ImVec2 size = ImGui::GetMainViewport()->WorkSize;
  const PanelPlaces places = choose_places(size.x, size.y, scale_, other_ ? 2 : 1);
  // A bar above may have left less room than the window has.
  if (places != PanelPlaces::around) stop_keeping_layout();
  // A run of several steps is looked at from the map of them.
  const bool steps = places == PanelPlaces::around && has_steps();
  ImGui::DockBuilderRemoveNode(dock_space);
  ImGui::DockBuilderAddNode(dock_space, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dock_space, size);
  ImGuiID main = dock_space;
  const auto split = [&main](ImGuiDir where, float share) {
    ImGuiID part = 0;
    ImGui::DockBuilderSplitNode(main, where, share, &part, &main);
    return part;
  };
  const float side = std::clamp(kSideWidth * scale_ / std::max(size.x, 1.0F), 0.15F, 0.42F);
  ImGuiID above = main;
  if (places == PanelPlaces::below) above = split(ImGuiDir_Down, 0.38F);
  if (places == PanelPlaces::around || places == PanelPlaces::right) above = split(ImGuiDir_Right, side);
  ImGuiID below = above;
  if (places == PanelPlaces::around) ImGui::DockBuilderSplitNode(above, ImGuiDir_Down, 0.45F, &below, &above);
  const ImGuiID bottom = steps ? split(ImGuiDir_Down, 0.24F) : below;
  const ImGuiID second = other_ && places != PanelPlaces::tabs ? split(ImGuiDir_Down, 0.5F) : main;
  ImGui::DockBuilderDockWindow(pane_.window().c_str(), main);
  if (other_) ImGui::DockBuilderDockWindow(other_->pane.window().c_str(), second);
  for (const Panel* const panel : panels()) {
    const ImGuiID stack = panel->place == PanelPlace::above   ? above
                          : panel->place == PanelPlace::below ? below
                                                              : bottom;
    ImGui::DockBuilderDockWindow(panel->title, stack);
  }
  if (places != PanelPlaces::tabs) {
    for (const ImGuiID timeline : {main, second})
      if (ImGuiDockNode* node = ImGui::DockBuilderGetNode(timeline))
        node->SetLocalFlags(node->LocalFlags | ImGuiDockNodeFlags_NoTabBar);
  }
  ImGui::DockBuilderFinish(dock_space);
  // Of each stack that has a place of its own the first panel; before those that were asked for.
  std::vector<std::string> first;
  if (steps) first.emplace_back(first_panel_in(PanelPlace::bottom));
  first.push_back(places == PanelPlaces::tabs ? pane_.window() : first_panel_in(PanelPlace::above));
  if (places == PanelPlaces::around) first.emplace_back(first_panel_in(PanelPlace::below));
  fronts_.insert(fronts_.begin(), first.begin(), first.end());
}

}  // namespace lockstep::viewer
