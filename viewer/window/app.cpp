#include "viewer/window/app.h"

#include <imgui.h>
#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>

#include "analyzer/report/unicode.h"
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

Session App::session() const {
  Session session = session_of(pane_.state(), scene_.timeline());
  session.dark = theme_.dark;
  return session;
}

void App::restore_session(const Session& session) {
  restore(session, scene_.timeline(), pane_.state());
  if (!session.closed_ranks.empty()) pane_.keep_expansion();
}

void App::keep_layout_in(const std::filesystem::path& file) {
  if (file.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  layout_file_ = file.string();
  docked_ = std::filesystem::exists(file, error);
  ImGui::GetIO().IniFilename = layout_file_.c_str();  // Dear ImGui reads and writes it
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
  // A run of several steps is looked at from the map of them.
  const bool steps = scene_.report().steps_present.size() > 1;
  ImGuiID bottom = 0;
  if (steps) ImGui::DockBuilderSplitNode(main, ImGuiDir_Down, 0.24F, &bottom, &main);
  ImGui::DockBuilderDockWindow("Timeline", main);
  if (other_) {
    ImGuiID second = 0;
    ImGui::DockBuilderSplitNode(main, ImGuiDir_Down, 0.5F, &second, &main);
    ImGui::DockBuilderDockWindow("Timeline", main);
    ImGui::DockBuilderDockWindow("Timeline B", second);
    if (ImGuiDockNode* node = ImGui::DockBuilderGetNode(second))
      node->SetLocalFlags(node->LocalFlags | ImGuiDockNodeFlags_NoTabBar);
    ImGui::DockBuilderDockWindow("Diff", above);
  }
  ImGui::DockBuilderDockWindow("Overview", above);
  ImGui::DockBuilderDockWindow("Findings", above);
  ImGui::DockBuilderDockWindow("Collectives", above);
  ImGui::DockBuilderDockWindow("Search", above);
  ImGui::DockBuilderDockWindow("Details", below);
  ImGui::DockBuilderDockWindow("Range", below);
  ImGui::DockBuilderDockWindow("Notes", below);
  for (const char* const name : {"Steps", "Imbalance", "Counters"})
    ImGui::DockBuilderDockWindow(name, steps ? bottom : below);
  if (ImGuiDockNode* node = ImGui::DockBuilderGetNode(main))
    node->SetLocalFlags(node->LocalFlags | ImGuiDockNodeFlags_NoTabBar);
  ImGui::DockBuilderFinish(dock_space);
  // Before those that were asked for.
  fronts_.insert(fronts_.begin(), {"Overview", "Details"});
  if (steps) fronts_.insert(fronts_.begin(), "Steps");
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

  draw_panes();
  panels();
  if (help_open_) draw_help(help_open_, theme_, fonts_);
  palette();
  // Figures that are being computed come without any input.
  if (range_.busy() || search_.busy()) busy_ = true;
}

void App::wait_for_figures() {
  range_.wait();
  search_.wait();
}

void App::compare_with(const Scene& other) {
  other_ = std::make_unique<Other>(scene_, other, scale_);
  show_panel("Diff");
}

void App::set_order(const RankOrder& order) {
  pane_.state().order = order;
  if (other_) other_->pane.state().order = order;
  busy_ = true;
}

void App::draw_panes() {
  const bool keyboard = !ImGui::GetIO().WantTextInput && !palette_open_;
  if (keyboard) read_keys();
  const auto name = [this](const char* which, const Scene& scene) {
    return other_ ? std::string(which) + "  " + analyzer::printable(scene.report().path) : std::string();
  };
  pane_.state().found = search_.search().hits();
  pane_.draw(theme_, fonts_, keyboard && !second_active_, name("A", scene_));
  if (pane_.measured_anew()) show_panel("Range");
  busy_ = busy_ || pane_.busy();
  if (!other_) return;
  other_->pane.draw(theme_, fonts_, keyboard && second_active_, name("B", other_->scene));
  busy_ = busy_ || other_->pane.busy();
  if (pane_.hovered()) second_active_ = false;
  if (other_->pane.hovered()) second_active_ = true;
  couple_panes();
}

// Whichever has moved, by hand, key or command, takes the other along, step beside step.
void App::couple_panes() {
  TimeView& a = pane_.state().view;
  TimeView& b = other_->pane.state().view;
  const bool a_moved = !(a == other_->coupled_a);
  const bool b_moved = !(b == other_->coupled_b);
  if (b_moved && (!a_moved || second_active_)) {
    a = other_->alignment.view_of_a(b);
  } else if (a_moved) {
    b = other_->alignment.view_of_b(a);
  }
  if (a_moved || b_moved) busy_ = true;
  other_->coupled_a = a;
  other_->coupled_b = b;
}

void App::panels() {
  const auto panel = [this](const char* name, const auto& draw) {
    if (ImGui::Begin(name)) execute(draw());
    ImGui::End();
  };
  panel("Overview", [this] { return draw_overview(scene_, theme_, fonts_, scene_.contents().verdict); });
  panel("Findings", [this] { return draw_findings(scene_, theme_, fonts_); });
  panel("Collectives", [this] {
    const Command command = collectives_.draw(lit_collective(scene_, pane_.state()), theme_, fonts_);
    if (command.collective) show_panel("Details");
    return command;
  });
  panel("Search", [this] { return search_.draw(theme_, fonts_); });
  panel("Details",
        [this] { return draw_details(active_pane().scene(), active_pane().state(), theme_, fonts_); });
  panel("Range", [this] { return draw_range(scene_, pane_.state(), range_, theme_, fonts_); });
  panel("Notes", [this] {
    notes_panel();
    return Command{};
  });
  if (other_) panel("Diff", [this] { return draw_diff(other_->diff, scene_, theme_, fonts_); });
  panel("Steps", [this] { return steps_.draw(theme_, fonts_); });
  panel("Imbalance", [this] {
    draw_imbalance(scene_, steps_.selected_step(), theme_, fonts_);
    return Command{};
  });
  panel("Counters", [this] {
    draw_counters(scene_, pane_.state(), theme_, fonts_);
    return Command{};
  });
  // Whatever is new takes the focus; what was in front when the layout was kept is to stay there.
  if (!layout_file_.empty() && ImGui::GetFrameCount() == 1) ImGui::SetWindowFocus("Timeline");
  // One a frame: of several the last would win.
  if (!fronts_.empty() && ImGui::GetFrameCount() > 1) {
    ImGui::SetWindowFocus(fronts_.front().c_str());
    fronts_.erase(fronts_.begin());
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
