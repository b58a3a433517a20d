// Keys of the window, and the palette of commands.
#include <imgui.h>

#include <algorithm>

#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/panels/search_panel.h"
#include "viewer/timeline/lower_case.h"
#include "viewer/timeline/navigate.h"
#include "viewer/widgets/imgui_canvas.h"
#include "viewer/window/app.h"

namespace lockstep::viewer {

namespace {

bool pressed(ImGuiKey key, bool repeat = false) {
  return ImGui::IsKeyPressed(key, repeat);
}

}  // namespace

void App::read_keys() {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_P)) {
    palette_asked_ = true;
    busy_ = true;
  }
  if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_F)) show_by_key(panels::search);
  read_signs();
  if (io.KeyCtrl || io.KeyAlt || io.KeySuper) return;
  TimelinePane& pane = active_pane();
  if (pressed(ImGuiKey_N, true)) execute(search().step(io.KeyShift ? -1 : 1));
  if (pressed(ImGuiKey_T)) set_theme(!theme_.dark);
  if (pressed(ImGuiKey_Backspace, true) && pane.back()) busy_ = true;
  // Marks are kept beside A, as notes are.
  if (pressed(ImGuiKey_M) && &pane == &pane_) pane.toggle_mark_at_pointer();
}

// Commands that are signs, wherever the keyboard has them.
void App::read_signs() {
  if (typed_.typed('?')) help_open_ = !help_open_;
  for (const Panel* const panel : panels())
    if (*panel->key.typed != '\0' && typed_.typed(*panel->key.typed)) show_by_key(*panel);
  TimelinePane& pane = active_pane();
  if (!pane.state().selected) return;
  const Item selected = *pane.state().selected;
  const auto go = [&pane](const std::optional<Item>& item) {
    if (item) pane.reveal(*item);
  };
  if (typed_.typed(',', true)) go(neighbour(pane.scene(), selected, -1));
  if (typed_.typed('.', true)) go(neighbour(pane.scene(), selected, 1));
  if (typed_.typed('[', true)) go(held_up_by(pane.scene(), selected));
  if (typed_.typed(']', true)) go(held_up(pane.scene(), selected));
}

std::vector<App::Action> App::actions() {
  std::vector<Action> all;
  for (const Panel* const panel : panels())
    all.push_back({std::string("Show ") + panel->title, "", [this, panel] { show_panel(panel->title); }});
  all.push_back({"Show everything", "F", [this] {
                   TimelinePane& pane = active_pane();
                   pane.state().selected.reset();
                   pane.execute({.range = pane.state().whole});
                 }});
  all.push_back({"Open or close host ranges", "H",
                 [this] { active_pane().state().expansion.toggle_hosts(active_pane().scene().timeline()); }});
  all.push_back({"Open or close counters", "G", [this] {
                   active_pane().state().expansion.toggle_counters(active_pane().scene().timeline());
                 }});
  all.push_back({"Close or open all ranks", "C", [this] { active_pane().state().expansion.toggle_ranks(); }});
  for (const RankOrder& each : orders_of(scene_.facts()))
    all.push_back({"Order ranks by " + order_title(each), "O", [this, each] {
                     active_pane().state().order.by = each.by;
                     active_pane().state().order.group_kind = each.group_kind;
                   }});
  all.push_back({"Close or open all hosts or groups", "Shift C",
                 [this] { toggle_sections(active_pane().scene().facts(), active_pane().state().order); }});
  all.push_back({"Show only the late ranks", "", [this] { active_pane().state().order.filter = "late"; }});
  all.push_back({"Show all ranks", "", [this] { active_pane().state().order.filter.clear(); }});
  all.push_back({"Unpin all ranks", "", [this] { active_pane().state().order.pinned.clear(); }});
  all.push_back({"Draw the chain of waits", "L", [this] { active_pane().toggle_chain(); }});
  all.push_back({"Light or dark", "T", [this] { set_theme(!theme_.dark); }});
  all.push_back({"Keys", "?", [this] { help_open_ = true; }});
  all.insert(all.end(), more_actions_.begin(), more_actions_.end());
  all.push_back({"Back to where you were", "Backspace", [this] { active_pane().back(); }});
  all.push_back({"Remove all marks", "", [this] {
                   pane_.state().marks.clear();
                   if (other_) other_->pane.state().marks.clear();
                 }});
  for (std::size_t i = 0; i < scene_.report().findings.size() && i < 20; ++i) {
    const analyzer::Finding& finding = scene_.report().findings[i];
    if (finding.place)
      all.push_back({"Go to finding: " + finding.title.substr(0, 80), "",
                     [this, &finding] { execute(show_finding(scene_, finding)); }});
  }
  return all;
}

void App::palette() {
  if (palette_asked_) {
    ImGui::OpenPopup("palette");
    palette_text_[0] = '\0';
    palette_at_ = 0;
  }
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(
      {viewport.WorkPos.x + viewport.WorkSize.x / 2, viewport.WorkPos.y + viewport.WorkSize.y * 0.2F},
      ImGuiCond_Always, {0.5F, 0});
  ImGui::SetNextWindowSize({std::min(520 * scale_, viewport.WorkSize.x * 0.9F), 0});
  if (!ImGui::BeginPopup("palette")) {
    palette_asked_ = false;
    return;
  }
  if (palette_asked_) ImGui::SetKeyboardFocusHere();
  palette_asked_ = false;
  ImGui::SetNextItemWidth(-1);
  const bool entered = ImGui::InputTextWithHint(
      "##command", "a command, or a place: step=12,rank=3 time=1.5ms collective=17", palette_text_.data(),
      palette_text_.size(), ImGuiInputTextFlags_EnterReturnsTrue);
  const std::string typed = palette_text_.data();
  std::vector<Action> fitting;
  for (Action& action : actions())
    if (lower_case(action.name).find(lower_case(typed)) != std::string::npos)
      fitting.push_back(std::move(action));
  const bool place = typed.find('=') != std::string::npos;
  const Result<Command> there = place ? parse_goto(scene_, typed) : Result<Command>(Command{});
  if (place && there.ok())
    fitting.insert(fitting.begin(), {"Go to " + typed, "", [this, &there] { execute(there.value()); }});
  if (place && !there.ok()) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(to_vec4(theme_.warning), "%s", there.error().message.c_str());
    ImGui::PopTextWrapPos();
  }
  const int count = static_cast<int>(fitting.size());
  if (pressed(ImGuiKey_DownArrow, true)) ++palette_at_;
  if (pressed(ImGuiKey_UpArrow, true)) --palette_at_;
  palette_at_ = std::clamp(palette_at_, 0, std::max(count - 1, 0));
  // As many as there is room for, below.
  const float room = viewport.WorkPos.y + viewport.WorkSize.y - ImGui::GetCursorScreenPos().y -
                     ImGui::GetStyle().WindowPadding.y;
  const int shown = std::clamp(static_cast<int>(room / ImGui::GetTextLineHeightWithSpacing()), 1, 14);
  std::optional<std::size_t> chosen;
  const int from = std::clamp(palette_at_ - shown + 1, 0, std::max(count - shown, 0));
  for (int i = from; i < std::min(count, from + shown); ++i) {
    const Action& action = fitting[static_cast<std::size_t>(i)];
    ImGui::PushID(i);
    if (ImGui::Selectable(action.name.c_str(), i == palette_at_)) chosen = static_cast<std::size_t>(i);
    if (action.key[0] != '\0') {
      ImGui::SameLine();
      right_aligned(action.key, theme_.dim_text);
    }
    ImGui::PopID();
  }
  if (pressed(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
  if (entered && count > 0) chosen = static_cast<std::size_t>(palette_at_);
  if (chosen) {
    fitting[*chosen].run();
    busy_ = true;
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace lockstep::viewer
