// The window's contents: header, docked panels, timeline. One frame() is one Dear ImGui frame.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/panels/collectives_panel.h"
#include "viewer/panels/panel.h"
#include "viewer/panels/panel_states.h"
#include "viewer/panels/search_panel.h"
#include "viewer/panels/steps_panel.h"
#include "viewer/timeline/scene.h"
#include "viewer/views/diff.h"
#include "viewer/views/range_statistics.h"
#include "viewer/views/session.h"
#include "viewer/widgets/fonts.h"
#include "viewer/widgets/timeline_pane.h"
#include "viewer/window/typed_characters.h"

namespace lockstep::viewer {

class App {
 public:
  // `scene` must outlive the App. To be made after the window, before its first frame.
  App(const Scene& scene, const Theme& theme, float scale);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  void frame();
  // The next frame may look different without any input: keys are held, a panel still finds its size, figures
  // are being computed.
  bool busy() const { return busy_; }
  const Theme& theme() const { return theme_; }
  void set_theme(bool dark);
  const Fonts& fonts() const { return fonts_; }
  TimelineState& state() { return pane_.state(); }
  // Where the last frame's timeline stood, and at which sizes.
  const Rect& timeline_area() const { return pane_.area(); }
  const Sizes& sizes() const { return pane_.sizes(); }
  // Of both runs, where two are compared.
  void set_order(const RankOrder& order);
  // Does it once the panels have found their sizes.
  void execute(const Command& command);
  // A second run below the first, coupled step by step. `other` must outlive the App. Before the first frame.
  void compare_with(const Scene& other);
  // The panel of this title in front: "Findings". Nothing where there is none.
  void show_panel(const std::string& title);
  SearchPanel& search();
  // Why what the user has just asked for cannot be shown; "": nothing to say.
  std::string hint() const;
  void drop_hint();
  StepsPanel& steps();
  // Adds a command to the palette.
  void add_command(std::string name, const char* key, std::function<void()> run) {
    more_actions_.push_back({std::move(name), key, std::move(run)});
  }
  const CollectivesPanel& collectives() const;
  const RangeStatistics& range() const;
  const TimelinePane& pane() const { return pane_; }
  TimelinePane& pane() { return pane_; }
  // Of the second run, and what differs; nullptr where there is none.
  TimelinePane* second_pane() { return other_ ? &other_->pane : nullptr; }
  const RunDiff* diff() const { return other_ ? &other_->diff : nullptr; }
  // Panels that there are to be none of: pictures that are compared show the same tabs, whatever panels are
  // added.
  void leave_out(std::vector<const Panel*> panels) { left_out_ = std::move(panels); }
  // Until what is computed beside the drawing is there.
  void wait_for_figures();
  // The arrangement of the panels: from this file, and to it from now on; "": kept nowhere. A window that is
  // too small for the usual arrangement has one of its own and leaves the file alone. `window`: its size in
  // pixels. Before the first frame.
  void keep_layout_in(const std::filesystem::path& file, Point window);
  // View, selection, marks, notes and what the panels keep, for the next look at the run.
  Session session() const;
  void restore_session(const Session& session);

 private:
  struct Action {
    std::string name;
    const char* key;
    std::function<void()> run;
  };
  struct Other {
    Other(const Scene& first, const Scene& second, float scale)
        : scene(second),
          pane(second, "Timeline B", scale),
          states(second, true),
          diff(compare(first, second)),
          alignment(diff, first.timeline(), second.timeline()) {}
    const Scene& scene;
    TimelinePane pane;
    PanelStates states;
    RunDiff diff;
    StepAlignment alignment;
    TimeView coupled_a, coupled_b;  // as they were put beside each other last
    RankOrder coupled_order;        // the same
  };
  void stop_keeping_layout();
  // Several, so that they are worth a map.
  bool has_steps() const;
  // Those of a stack at the right take more than its width: they stand closer.
  bool tabs_are_many() const;
  void show_range_of(bool second);
  void arrange_docks(unsigned dock_space);
  // A timeline that is hidden by other panels comes to the front when there is something to show on it.
  void bring_timelines_forward();
  void draw_panes();
  void couple_panes();
  void couple_orders();
  void fold_alike();
  void draw_panels();
  void draw_panel(const Panel& panel);
  // Two runs: the panel's first line says which one it is about, and lets choose where it can show either.
  // Returns whether it is the second one.
  bool draw_run_of(const Panel& panel);
  std::vector<const Panel*> panels() const;  // of one run, or of two that are compared
  // To the front, one a frame.
  void bring_panels_forward();
  // To the front, with the keyboard.
  void show_by_key(const Panel& panel);
  void read_keys();
  void read_signs();
  // The pane that keys apply to: the one that the pointer was in last.
  TimelinePane& active_pane();
  void palette();
  std::vector<Action> actions();

  const Scene& scene_;
  Theme theme_;
  float scale_;
  Fonts fonts_;
  TimelinePane pane_;
  std::unique_ptr<Other> other_;
  std::vector<const Panel*> left_out_;
  bool second_active_ = false;
  TypedCharacters typed_;
  bool panels_of_second_ = false;  // those that can show either run
  PanelStates states_;
  std::vector<std::string> fronts_;  // panels to bring to the front, one a frame
  std::array<char, 128> palette_text_{};
  int palette_at_ = 0;
  bool palette_asked_ = false;
  bool help_open_ = false;
  std::vector<Action> more_actions_;
  std::string layout_file_;
  bool docked_ = false;
  bool busy_ = true;
};

}  // namespace lockstep::viewer
