// The panels around the timelines.
#include <imgui.h>

#include <algorithm>

#include "viewer/panels/collectives_panel.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/range_panel.h"
#include "viewer/panels/search_panel.h"
#include "viewer/panels/steps_panel.h"
#include "viewer/widgets/run_choice.h"
#include "viewer/window/app.h"
#include "viewer/window/tab_scroll.h"

namespace lockstep::viewer {

SearchPanel& App::search() {
  return states_.get<SearchPanel>(panels::search);
}

StepsPanel& App::steps() {
  return states_.get<StepsPanel>(panels::steps);
}

const CollectivesPanel& App::collectives() const {
  return states_.get<CollectivesPanel>(panels::collectives);
}

const RangeStatistics& App::range() const {
  return states_.get<RangePanel>(panels::range).statistics();
}

void App::show_panel(const std::string& title) {
  fronts_.push_back(title);
  busy_ = true;
}

void App::show_by_key(const Panel& panel) {
  if (PanelState* const state = states_.find(panel)) state->take_keyboard();
  show_panel(panel.title);
}

void App::show_range_of(bool second) {
  panels_of_second_ = second;
  show_panel(panels::range.title);
}

bool App::draw_run_of(const Panel& panel) {
  if (!other_ || panel.runs == PanelRuns::both) return false;
  if (panel.runs == PanelRuns::either) {
    panels_of_second_ = choose_run(scene_, other_->scene, panels_of_second_, theme_, fonts_);
    return panels_of_second_;
  }
  const bool second = panel.runs == PanelRuns::pointed && second_active_;
  say_run(second ? "B" : "A", second ? other_->scene : scene_, theme_, fonts_);
  return second;
}

void App::draw_panel(const Panel& panel) {
  const bool second = draw_run_of(panel);
  TimelinePane& pane = second ? other_->pane : pane_;
  std::optional<ComparedRuns> compared;
  if (other_) compared.emplace(ComparedRuns{pane_, other_->pane, other_->diff, other_->alignment});
  const PanelContext context{.pane = pane,
                             .states = second ? other_->states : states_,
                             .compared = compared ? &*compared : nullptr,
                             .theme = theme_,
                             .fonts = fonts_,
                             .show = [this](const Panel& other) { show_panel(other.title); }};
  pane.execute(panel.draw(context));
}

std::vector<const Panel*> App::panels() const {
  std::vector<const Panel*> all = panels_for(other_ != nullptr);
  std::erase_if(all, [this](const Panel* panel) {
    return std::find(left_out_.begin(), left_out_.end(), panel) != left_out_.end();
  });
  return all;
}

void App::draw_panels() {
  for (const Panel* const panel : panels()) {
    if (ImGui::Begin(panel->title)) draw_panel(*panel);
    ImGui::End();
  }
  // Whatever is new takes the focus; what was in front when the layout was kept is to stay there.
  if (!layout_file_.empty() && ImGui::GetFrameCount() == 1) ImGui::SetWindowFocus(pane_.window().c_str());
  bring_panels_forward();
}

void App::bring_panels_forward() {
  // One a frame: of several the last would win.
  if (!fronts_.empty() && ImGui::GetFrameCount() > 1) {
    ImGui::SetWindowFocus(fronts_.front().c_str());
    scroll_to_tab_of(fronts_.front().c_str());
    fronts_.erase(fronts_.begin());
    busy_ = true;  // the tab is scrolled to a frame later
  }
  if (!fronts_.empty()) busy_ = true;
}

}  // namespace lockstep::viewer
