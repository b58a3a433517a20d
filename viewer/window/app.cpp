#include "viewer/window/app.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>

#include "viewer/window/imgui_canvas.h"
#include "viewer/window/style.h"

namespace lockstep::viewer {

namespace {

// Frames after which every panel has its size.
constexpr int kSettled = 4;

}  // namespace

App::App(const Scene& scene, const Theme& theme, float scale)
    : scene_(scene),
      theme_(theme),
      scale_(scale),
      fonts_(load_fonts(scale)),
      sizes_(scaled(Sizes{}, scale)),
      state_(scene.timeline()),
      verdict_(scene.contents().verdict) {
  apply_style(theme_, scale);
}

void App::show_collective(std::uint32_t collective, bool zoom) {
  for (const analyzer::CollectiveRank& part : scene_.parts(collective)) {
    const auto rank = scene_.index_of(part.rank);
    if (!rank) continue;
    const auto item = scene_.find_activity(*rank, part.activity);
    if (!item) continue;
    state_.selected = item;
    if (zoom) bring_into_view_ = item;
    return;
  }
}

void App::execute(const Command& command) {
  if (!command.show) return;
  state_.selected = command.show;
  bring_into_view_ = command.show;
  busy_ = true;
}

void App::arrange_docks(unsigned dock_space) {
  docked_ = true;
  const ImVec2 size = ImGui::GetMainViewport()->WorkSize;
  ImGui::DockBuilderRemoveNode(dock_space);
  ImGui::DockBuilderAddNode(dock_space, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dock_space, size);
  const float side = std::clamp(360 * scale_ / std::max(size.x, 1.0F), 0.15F, 0.42F);
  ImGuiID right = 0;
  ImGuiID main = 0;
  ImGui::DockBuilderSplitNode(dock_space, ImGuiDir_Right, side, &right, &main);
  ImGuiID below = 0;
  ImGuiID above = 0;
  ImGui::DockBuilderSplitNode(right, ImGuiDir_Down, 0.45F, &below, &above);
  ImGui::DockBuilderDockWindow("Timeline", main);
  ImGui::DockBuilderDockWindow("Overview", above);
  ImGui::DockBuilderDockWindow("Details", below);
  if (ImGuiDockNode* node = ImGui::DockBuilderGetNode(main))
    node->SetLocalFlags(node->LocalFlags | ImGuiDockNodeFlags_NoTabBar);
  ImGui::DockBuilderFinish(dock_space);
}

void App::frame() {
  // A panel knows its size one frame after it is first drawn.
  busy_ = !docked_ || ImGui::GetFrameCount() < kSettled;
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const float header = header_height(scene_, fonts_);
  constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                      ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                      ImGuiWindowFlags_NoNavFocus | ImGuiWindowFlags_NoSavedSettings |
                                      ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::SetNextWindowPos(viewport.WorkPos);
  ImGui::SetNextWindowSize(viewport.WorkSize);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::Begin("##root", nullptr, kFixed);
  draw_header(scene_, theme_, fonts_, header);
  ImGui::SetCursorPosY(header);
  const ImGuiID dock_space = ImGui::GetID("docks");
  if (!docked_) arrange_docks(dock_space);
  ImGui::DockSpace(dock_space, {0, 0},
                   ImGuiDockNodeFlags_NoWindowMenuButton | ImGuiDockNodeFlags_NoCloseButton);
  ImGui::End();
  ImGui::PopStyleVar(3);

  timeline_window();
  if (ImGui::Begin("Overview")) execute(draw_overview(scene_, theme_, fonts_, verdict_));
  ImGui::End();
  if (ImGui::Begin("Details")) execute(draw_details(scene_, state_, theme_, fonts_));
  ImGui::End();
}

TimelineInput App::read_input(bool hovered, bool keyboard) const {
  const ImGuiIO& io = ImGui::GetIO();
  TimelineInput input;
  if (hovered || control_.busy()) input.pointer = Point{io.MousePos.x, io.MousePos.y};
  input.shift = io.KeyShift;
  input.control = io.KeyCtrl;
  if (hovered) {
    input.wheel = io.MouseWheel;
    input.wheel_side = io.MouseWheelH;
    input.pressed = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    input.double_clicked = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  }
  input.down = ImGui::IsMouseDown(ImGuiMouseButton_Left);
  input.released = ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  input.moved = {io.MouseDelta.x, io.MouseDelta.y};
  if (!keyboard || io.KeyCtrl || io.KeyAlt) return input;
  // A frame after a sleep must not count the sleep.
  const float seconds = std::min(io.DeltaTime, 0.05F);
  const auto held = [&](ImGuiKey key) { return ImGui::IsKeyDown(key) ? seconds : 0.0F; };
  input.zoom_in = held(ImGuiKey_W);
  input.zoom_out = held(ImGuiKey_S);
  input.pan_left = held(ImGuiKey_A) + held(ImGuiKey_LeftArrow);
  input.pan_right = held(ImGuiKey_D) + held(ImGuiKey_RightArrow);
  input.fit = ImGui::IsKeyPressed(ImGuiKey_F, false);
  input.toggle_hosts = ImGui::IsKeyPressed(ImGuiKey_H, false);
  input.toggle_ranks = ImGui::IsKeyPressed(ImGuiKey_C, false);
  input.escape = ImGui::IsKeyPressed(ImGuiKey_Escape, false);
  input.page = (ImGui::IsKeyPressed(ImGuiKey_PageDown) ? 1.0F : 0.0F) -
               (ImGui::IsKeyPressed(ImGuiKey_PageUp) ? 1.0F : 0.0F);
  return input;
}

void App::timeline_window() {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  const bool open =
      ImGui::Begin("Timeline", nullptr, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  if (!open) {
    ImGui::End();
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (size.x < 1 || size.y < 1) {
    ImGui::End();
    return;
  }
  const auto padding = static_cast<float>(sizes_.padding);
  const Rect whole{at.x, at.y + padding, at.x + size.x, at.y + size.y};
  if (!(whole == area_)) {
    // Until the docks have found their sizes; from then on it is the user's.
    if (ImGui::GetFrameCount() < kSettled)
      state_.expansion = choose_expansion(scene_.timeline(), scale_, whole);
    area_ = whole;
    sizes_ = choose_sizes(scene_.timeline(), state_.expansion, scale_, whole);
    busy_ = true;
  }
  const Regions regions = divide(whole, sizes_, scene_.timeline().ranks.size());
  const auto frame_now = [&](const Layout& layout) {
    return Frame{scene_,
                 state_,
                 layout,
                 regions,
                 sizes_,
                 theme_,
                 TimeAxis{state_.view, regions.lanes.left, std::max(1.0F, regions.lanes.width())}};
  };
  Layout layout = lay_out(scene_.timeline(), state_.expansion, sizes_);

  ImGui::InvisibleButton("timeline", size, ImGuiButtonFlags_MouseButtonLeft);
  const bool hovered = ImGui::IsItemHovered();
  if (bring_into_view_ && ImGui::GetFrameCount() >= kSettled) {
    state_.view = clamp(view_of_item(frame_now(layout), *bring_into_view_), scene_.timeline().content);
    state_.scroll = scroll_to(frame_now(layout), bring_into_view_->rank);
    bring_into_view_.reset();
  }
  const bool keyboard = !ImGui::GetIO().WantTextInput;
  const TimelineInput input = read_input(hovered, keyboard);
  if (control_.apply(input, frame_now(layout), minimap_, state_)) {
    busy_ = true;
    layout = lay_out(scene_.timeline(), state_.expansion, sizes_);
  }
  state_.scroll = clamp_scroll(state_.scroll, frame_now(layout));

  minimap_.prepare(scene_, regions.minimap, theme_);
  const Frame frame = frame_now(layout);
  {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, to_imgui(theme_.background));
    ImGuiCanvas canvas(list, fonts_);
    draw_timeline(canvas, frame, minimap_, hovered ? std::optional<float>(input.pointer->x) : std::nullopt);
  }
  if (hovered && !control_.busy()) {
    draw_tooltip(scene_, hit_test(frame, input.pointer->x, input.pointer->y), theme_, fonts_);
  }
  ImGui::End();
}

}  // namespace lockstep::viewer
