// One run's timeline as a docked window: lays out, draws, and takes pointer and keys.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "viewer/timeline/input.h"
#include "viewer/timeline/read_ahead.h"
#include "viewer/timeline/scene.h"
#include "viewer/views/command.h"
#include "viewer/views/history.h"
#include "viewer/widgets/fonts.h"
#include "viewer/widgets/order_strip.h"

namespace lockstep::viewer {

class TimelinePane {
 public:
  // `scene` outlives it. `window`: the name of its Dear ImGui window.
  TimelinePane(const Scene& scene, std::string window, float scale);

  // Draws it; `keyboard`: keys are for this pane. `note`: above the lanes, e.g. which run it is; "" for none.
  void draw(const Theme& theme, const Fonts& fonts, bool keyboard, const std::string& note);
  // Whether a tooltip is shown; not while a window covers the lanes.
  void allow_tooltips(bool allowed) { tooltips_ = allowed; }
  // Does it once the window has found its size, and is in front.
  void execute(const Command& command);
  // Whether execute() was called since the last time while other panels hid the window.
  bool take_wants_front() { return std::exchange(wants_front_, false); }
  // Selects an item; scrolls and moves only as far as it takes to see it.
  void reveal(const Item& item);
  void toggle_mark_at_pointer();
  // The chain of waits on or off; where none would be seen, hint() says why instead.
  void toggle_chain();
  // Why what the user asked for cannot be shown, until they select something else; "": nothing to say.
  const std::string& hint() const { return hint_; }
  void drop_hint() { hint_.clear(); }
  bool back() { return history_.back(state_); }

  const Scene& scene() const { return scene_; }
  // The name of its Dear ImGui window.
  const std::string& window() const { return window_; }
  TimelineState& state() { return state_; }
  const TimelineState& state() const { return state_; }
  const Rect& area() const { return area_; }
  const Sizes& sizes() const { return sizes_; }
  bool hovered() const { return hovered_; }
  // From the top; of closed sections and filtered ones none.
  std::span<const std::uint32_t> shown_ranks() const { return sequence_.ranks; }
  // Since the last draw(): the next frame may look different without any input; a range was measured anew.
  bool busy() const { return busy_; }
  bool measured_anew() const { return measured_anew_; }
  // Keeps the expansion as it is, instead of choosing it by what fits.
  void keep_expansion() { keep_expansion_ = true; }
  // Which lanes fit at first; nothing before its size is known, and where the expansion is the user's own.
  std::optional<LanesShown> fitting() const { return fitting_; }
  // No more than these at first, though more would fit: as another pane beside it. Whether that is new.
  bool show_at_most(LanesShown most);
  // Lanes that are open from the beginning, whether they fit or not.
  void open_at_first(LaneRole role) { open_at_first_.push_back(role); }
  // What is selected from the beginning may be deep in a folded thread: it is unfolded, in place.
  void unfold_selected() { unfold_selected_ = true; }

 private:
  // What commands select, on ranks that are shown from now on.
  void select_by_commands();
  void apply_commands(const Frame& frame);
  // The sequence of ranks, anew where its order changed.
  void follow_order();
  void open_lane_of(const Item& item);
  void unfold(const Item& item);
  void select_collective(std::uint32_t collective);
  TimelineInput read_input(bool keyboard) const;
  void tell_of_chain();

  const Scene& scene_;
  std::string window_;
  float scale_;
  Rect area_;
  Sizes sizes_;
  TimelineState state_;
  TimelineControl control_;
  Minimap minimap_;
  OrderStrip strip_;
  ReadAhead read_ahead_;
  RankSequence sequence_;
  std::optional<RankOrder> sequenced_;  // the order that it is of
  ViewHistory history_;
  std::vector<Command> commands_;  // not yet carried out
  std::optional<Nanoseconds> pointer_time_;
  std::uint64_t mark_reach_ = 1;  // ns within which a mark is that mark
  std::string hint_;
  std::optional<Item> hinted_at_;  // what was selected then
  int frames_ = 0;                 // drawn so far
  bool keep_expansion_ = false;
  std::optional<LanesShown> fitting_;
  LanesShown most_shown_ = LanesShown::hosts;
  bool shown_anew_ = false;  // most_shown_ has changed since the last frame
  std::vector<LaneRole> open_at_first_;
  bool unfold_selected_ = false;
  bool hovered_ = false;
  bool hidden_ = false;  // in the last frame, by other panels
  bool wants_front_ = false;
  bool tooltips_ = true;
  bool busy_ = true;
  bool measured_anew_ = false;
};

}  // namespace lockstep::viewer
