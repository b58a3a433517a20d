#include "viewer/window/app.h"

#include <imgui.h>
#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>

#include "analyzer/report/unicode.h"
#include "viewer/views/arrangement.h"
#include "viewer/window/imgui_canvas.h"
#include "viewer/window/run_choice.h"
#include "viewer/window/style.h"
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
      range_(scene),
      steps_(scene),
      collectives_(scene),
      search_(scene) {
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

void App::show_panel(const std::string& name) {
  fronts_.push_back(name);
  busy_ = true;
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
  session.search = search_.search().text();
  return session;
}

void App::restore_session(const Session& session) {
  restore(session, scene_.timeline(), pane_.state());
  if (!session.closed_ranks.empty()) pane_.keep_expansion();
  pane_.unfold_selected();
  if (!session.search.empty()) search_.set_text(session.search);
}

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
  return scene_.report().steps_present.size() > 1;
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
  const float side = std::clamp(360 * scale_ / std::max(size.x, 1.0F), 0.15F, 0.42F);
  ImGuiID above = main;
  if (places == PanelPlaces::below) above = split(ImGuiDir_Down, 0.38F);
  if (places == PanelPlaces::around || places == PanelPlaces::right) above = split(ImGuiDir_Right, side);
  ImGuiID below = above;
  if (places == PanelPlaces::around) ImGui::DockBuilderSplitNode(above, ImGuiDir_Down, 0.45F, &below, &above);
  const ImGuiID bottom = steps ? split(ImGuiDir_Down, 0.24F) : below;
  const ImGuiID second = other_ && places != PanelPlaces::tabs ? split(ImGuiDir_Down, 0.5F) : main;
  const auto dock = [](ImGuiID node, std::initializer_list<const char*> names) {
    for (const char* const name : names) ImGui::DockBuilderDockWindow(name, node);
  };
  dock(main, {"Timeline"});
  if (other_) dock(second, {"Timeline B"});
  if (other_) dock(above, {"Diff"});
  dock(above, {"Overview", "Findings", "Collectives", "Search"});
  dock(below, {"Details", "Range", "Notes"});
  dock(bottom, {"Steps", "Imbalance", "Counters"});
  if (places != PanelPlaces::tabs) {
    for (const ImGuiID timeline : {main, second})
      if (ImGuiDockNode* node = ImGui::DockBuilderGetNode(timeline))
        node->SetLocalFlags(node->LocalFlags | ImGuiDockNodeFlags_NoTabBar);
  }
  ImGui::DockBuilderFinish(dock_space);
  // Before those that were asked for.
  std::vector<std::string> first{"Overview"};
  if (places == PanelPlaces::around) first.push_back("Details");
  if (places == PanelPlaces::tabs) first = {"Timeline"};
  if (steps) first.insert(first.begin(), "Steps");
  fronts_.insert(fronts_.begin(), first.begin(), first.end());
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
  // Where the panels of steps have no place of their own, six tabs share one: they stand closer.
  const ImGuiStyle& style = ImGui::GetStyle();
  const float share = has_steps() ? 1.0F : 0.6F;
  ImGui::PushStyleVarX(ImGuiStyleVar_FramePadding, style.FramePadding.x * share);
  ImGui::PushStyleVarX(ImGuiStyleVar_ItemInnerSpacing, style.ItemInnerSpacing.x * share);
  ImGui::DockSpace(dock_space, {0, 0},
                   ImGuiDockNodeFlags_NoWindowMenuButton | ImGuiDockNodeFlags_NoCloseButton);
  ImGui::PopStyleVar(2);
  if (end_tab_scrolls()) busy_ = true;
  ImGui::End();
  ImGui::PopStyleVar(3);

  draw_panes();
  panels();
  bring_timelines_forward();
  if (help_open_) draw_help(help_open_, theme_, fonts_);
  palette();
  // Figures that are being computed come without any input.
  if (range_.busy() || search_.busy() || (other_ && other_->range.busy())) busy_ = true;
}

void App::bring_timelines_forward() {
  if (pane_.take_wants_front()) show_panel(pane_.window());
  if (other_ && other_->pane.take_wants_front()) show_panel(other_->pane.window());
}

void App::wait_for_figures() {
  range_.wait();
  if (other_) other_->range.wait();
  search_.wait();
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
  pane_.state().found = search_.search().hits();
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

void App::show_range_of(bool second) {
  panels_of_second_ = second;
  show_panel("Range");
}

bool App::chosen_run() {
  if (!other_) return false;
  panels_of_second_ = choose_run(scene_, other_->scene, panels_of_second_, theme_, fonts_);
  return panels_of_second_;
}

void App::say_run_of(const TimelinePane& pane) const {
  if (other_) say_run(&pane == &pane_ ? "A" : "B", pane.scene(), theme_, fonts_);
}

void App::panels() {
  // Of either run; what is clicked is done there.
  const auto of_either = [this](const char* name, const auto& draw) {
    if (ImGui::Begin(name)) {
      const bool second = chosen_run();
      TimelinePane& pane = second ? other_->pane : pane_;
      pane.execute(draw(pane, second ? other_->steps : steps_));
    }
    ImGui::End();
  };
  const auto of_pane = [this](const char* name, TimelinePane& pane, const auto& draw) {
    if (ImGui::Begin(name)) {
      say_run_of(pane);
      pane.execute(draw(pane));
    }
    ImGui::End();
  };
  of_either("Overview", [this](const TimelinePane& pane, StepsPanel&) {
    return draw_overview(pane.scene(), theme_, fonts_, pane.scene().contents().verdict);
  });
  of_either("Findings", [this](const TimelinePane& pane, StepsPanel&) {
    return draw_findings(pane.scene(), theme_, fonts_);
  });
  of_pane("Collectives", pane_, [this](const TimelinePane& pane) {
    const Command command = collectives_.draw(lit_collective(scene_, pane.state()), theme_, fonts_);
    if (command.collective) show_panel("Details");
    return command;
  });
  of_pane("Search", pane_, [this](const TimelinePane&) { return search_.draw(theme_, fonts_); });
  of_pane("Details", active_pane(), [this](const TimelinePane& pane) {
    return draw_details(pane.scene(), pane.state(), theme_, fonts_);
  });
  of_either("Range", [this](const TimelinePane& pane, StepsPanel&) {
    return draw_range(pane.scene(), pane.state(), &pane == &pane_ ? range_ : other_->range, theme_, fonts_);
  });
  of_pane("Notes", pane_, [this](const TimelinePane&) {
    notes_panel();
    return Command{};
  });
  if (other_) {
    const std::string aligned =
        scene_.order_alone() || other_->scene.order_alone()
            ? ""
            : other_->alignment.aligned_at(pane_.state().view, other_->pane.state().view);
    if (ImGui::Begin("Diff"))
      execute(draw_diff(other_->diff, aligned, scene_, other_->scene, theme_, fonts_));
    ImGui::End();
  }
  of_either("Steps", [this](const TimelinePane&, StepsPanel& steps) { return steps.draw(theme_, fonts_); });
  of_either("Imbalance", [this](const TimelinePane& pane, StepsPanel& steps) {
    draw_imbalance(pane.scene(), steps.selected_step(), theme_, fonts_);
    return Command{};
  });
  of_either("Counters", [this](const TimelinePane& pane, StepsPanel&) {
    draw_counters(pane.scene(), pane.state(), pane.shown_ranks(), theme_, fonts_);
    return Command{};
  });
  // Whatever is new takes the focus; what was in front when the layout was kept is to stay there.
  if (!layout_file_.empty() && ImGui::GetFrameCount() == 1) ImGui::SetWindowFocus("Timeline");
  // One a frame: of several the last would win.
  if (!fronts_.empty() && ImGui::GetFrameCount() > 1) {
    ImGui::SetWindowFocus(fronts_.front().c_str());
    scroll_to_tab_of(fronts_.front().c_str());
    fronts_.erase(fronts_.begin());
    busy_ = true;  // the tab is scrolled to a frame later
  }
  if (!fronts_.empty()) busy_ = true;
}

void App::notes_panel() {
  ImGui::PushFont(nullptr, fonts_.small_size);
  ImGui::TextColored(to_vec4(theme_.dim_text), "Notes and marks are kept beside the run.");
  pane_.state().notes.resize(std::max(pane_.state().notes.size(), std::size_t{1}));
  const auto grow = [](ImGuiInputTextCallbackData* data) {
    auto& text = *static_cast<std::string*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
      text.resize(static_cast<std::size_t>(data->BufTextLen));
      data->Buf = text.data();
    }
    return 0;
  };
  if (pane_.state().notes == std::string(1, '\0')) pane_.state().notes.clear();
  ImGui::InputTextMultiline("##notes", pane_.state().notes.data(), pane_.state().notes.capacity() + 1,
                            {-1, fonts_.small_size * 8}, ImGuiInputTextFlags_CallbackResize, grow,
                            &pane_.state().notes);
  for (std::size_t i = 0; i < pane_.state().marks.size(); ++i) {
    TimeMark& mark = pane_.state().marks[i];
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::SmallButton("go")) {
      const auto half = static_cast<Nanoseconds>(std::min(pane_.state().view.span / 2, 1e18));
      execute({.range = TimeRange{saturating_add(mark.time, -half), saturating_add(mark.time, half)}});
    }
    ImGui::SameLine();
    std::array<char, 200> note{};
    mark.note.copy(note.data(), note.size() - 1);
    ImGui::SetNextItemWidth(-1);
    const std::string hint = exact_duration(saturating_add(mark.time, -scene_.timeline().origin));
    if (ImGui::InputTextWithHint("##note", hint.c_str(), note.data(), note.size())) mark.note = note.data();
    ImGui::PopID();
  }
  ImGui::PopFont();
}

}  // namespace lockstep::viewer
