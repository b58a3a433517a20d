#include "viewer/window/app.h"

#include <imgui.h>
#include <imgui_internal.h>

#include "analyzer/report/unicode.h"
#include "viewer/panels/search_panel.h"
#include "viewer/widgets/style.h"
#include "viewer/window/header.h"
#include "viewer/window/help.h"
#include "viewer/window/tab_scroll.h"

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
      pane_(scene, "Timeline", scale),
      states_(scene) {
  apply_style(theme_, scale);
}

App::~App() {
  // Dear ImGui keeps a pointer to the name of the file.
  if (layout_file_.empty() || ImGui::GetCurrentContext() == nullptr) return;
  ImGuiIO& io = ImGui::GetIO();
  if (io.IniFilename != layout_file_.c_str()) return;
  if (ImGui::GetFrameCount() > 0) ImGui::SaveIniSettingsToDisk(io.IniFilename);
  io.IniFilename = nullptr;
}

void App::set_theme(bool dark) {
  theme_ = dark ? dark_theme() : light_theme();
  apply_style(theme_, scale_);
  busy_ = true;
}

void App::execute(const Command& command) {
  pane_.execute(command);
}

TimelinePane& App::active_pane() {
  return other_ && second_active_ ? other_->pane : pane_;
}

std::string App::hint() const {
  return !pane_.hint().empty() || !other_ ? pane_.hint() : other_->pane.hint();
}

void App::drop_hint() {
  pane_.drop_hint();
  if (other_) other_->pane.drop_hint();
}

Session App::session() const {
  Session session = session_of(pane_.state(), scene_.timeline());
  session.dark = theme_.dark;
  states_.keep_in(session);
  return session;
}

void App::restore_session(const Session& session) {
  restore(session, scene_.timeline(), pane_.state());
  if (!session.closed_ranks.empty()) pane_.keep_expansion();
  pane_.unfold_selected();
  states_.restore_from(session);
}

void App::frame() {
  // A panel knows its size one frame after it is first drawn.
  busy_ = !docked_ || ImGui::GetFrameCount() < kSettled;
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const Scene* const other = other_ ? &other_->scene : nullptr;
  const float header = header_height(scene_, other, fonts_);
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
  draw_header(scene_, other, theme_, fonts_, header);
  ImGui::SetCursorPosY(header);
  const ImGuiID dock_space = ImGui::GetID("docks");
  if (!docked_) arrange_docks(dock_space);
  const ImGuiStyle& style = ImGui::GetStyle();
  const float share = tabs_are_many() ? 0.6F : 1.0F;
  ImGui::PushStyleVarX(ImGuiStyleVar_FramePadding, style.FramePadding.x * share);
  ImGui::PushStyleVarX(ImGuiStyleVar_ItemInnerSpacing, style.ItemInnerSpacing.x * share);
  ImGui::DockSpace(dock_space, {0, 0},
                   ImGuiDockNodeFlags_NoWindowMenuButton | ImGuiDockNodeFlags_NoCloseButton);
  ImGui::PopStyleVar(2);
  if (end_tab_scrolls()) busy_ = true;
  ImGui::End();
  ImGui::PopStyleVar(3);

  draw_panes();
  draw_panels();
  bring_timelines_forward();
  if (help_open_) draw_help(help_open_, theme_, fonts_);
  palette();
  // Figures that are being computed come without any input.
  if (states_.busy() || (other_ && other_->states.busy())) busy_ = true;
}

void App::bring_timelines_forward() {
  if (pane_.take_wants_front()) show_panel(pane_.window());
  if (other_ && other_->pane.take_wants_front()) show_panel(other_->pane.window());
}

void App::wait_for_figures() {
  states_.wait();
  if (other_) other_->states.wait();
}

void App::set_order(const RankOrder& order) {
  pane_.state().order = order;
  if (other_) other_->pane.state().order = order;
  busy_ = true;
}

void App::draw_panes() {
  typed_.read();
  // Whatever stands over the panes has the keys, and the Escape that closes it is its own.
  constexpr ImGuiPopupFlags kAny = ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel;
  bool keyboard = !ImGui::GetIO().WantTextInput && !ImGui::IsPopupOpen("", kAny);
  if (keyboard && help_open_ && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
    help_open_ = false;
    keyboard = false;
  }
  if (keyboard) read_keys();
  const auto name = [this](const char* which, const Scene& scene) {
    return other_ ? std::string(which) + "  " + analyzer::printable(scene.report().path) : std::string();
  };
  pane_.state().found = search().search().hits();
  pane_.allow_tooltips(!help_open_);
  if (other_) other_->pane.allow_tooltips(!help_open_);
  pane_.draw(theme_, fonts_, keyboard && !second_active_, name("A", scene_));
  if (pane_.measured_anew()) show_range_of(false);
  busy_ = busy_ || pane_.busy();
  if (!other_) return;
  other_->pane.draw(theme_, fonts_, keyboard && second_active_, name("B", other_->scene));
  if (other_->pane.measured_anew()) show_range_of(true);
  busy_ = busy_ || other_->pane.busy();
  if (pane_.hovered()) second_active_ = false;
  if (other_->pane.hovered()) second_active_ = true;
  couple_panes();
  couple_orders();
  fold_alike();
}

}  // namespace lockstep::viewer
