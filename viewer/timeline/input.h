// What keys and pointer do to the timeline; without a window, so that it can be tested.
#pragma once

#include <optional>
#include <string>

#include "viewer/timeline/draw.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// One frame's worth of input.
struct TimelineInput {
  std::optional<Point> pointer{};  // absent: elsewhere
  bool shift = false;
  bool control = false;
  float wheel = 0;        // notches; positive: away from the user
  float wheel_side = 0;   // of wheels and pads that scroll sideways
  bool pressed = false;   // the left button went down in this frame
  bool down = false;      // it is down
  bool released = false;  // it went up
  bool double_clicked = false;
  bool right_clicked = false;
  Point moved{};  // since the last frame
  // Held keys, in seconds held during this frame: W and S zoom, A and D pan.
  float zoom_in = 0, zoom_out = 0, pan_left = 0, pan_right = 0;
  // Pressed in this frame.
  bool fit = false;              // F: the selection, else everything
  bool toggle_hosts = false;     // H
  bool toggle_counters = false;  // G
  bool toggle_ranks = false;     // C
  bool toggle_sections = false;  // Shift C: hosts or groups
  bool cycle_order = false;      // O
  bool pin = false;              // P: the rank under the pointer
  bool measure = false;          // R: sets one end of a measured range, then the other
  bool chain = false;            // L: the chain of waits from the selection, where one leads from it
  bool escape = false;           // drops selection and measure
  float page = 0;                // page up (−1) and down (1)
};

// Why the key for the chain of waits would show nothing, and what to do; "": a chain leads from the
// selection. A chain that is drawn can always be put away.
std::string why_no_chain(const Scene& scene, const TimelineState& state);

// Brings TimelineState::chain up to what is selected.
void follow_chain(const Scene& scene, TimelineState& state);

class TimelineControl {
 public:
  // Changes `state`; true if anything on the screen has to change. `frame` is the one that the user sees.
  bool apply(const TimelineInput& input, const Frame& frame, const Minimap& minimap, TimelineState& state);
  // A measure or a drag is under way.
  bool busy() const { return gesture_ != Gesture::none; }

 private:
  enum class Gesture { none, pan, measure, minimap, scroll };
  void press(const TimelineInput& input, const Frame& frame, TimelineState& state);
  void drag(const TimelineInput& input, const Frame& frame, const Minimap& minimap, TimelineState& state);
  void click(const TimelineInput& input, const Frame& frame, TimelineState& state);
  static bool wheel(const TimelineInput& input, const Frame& frame, TimelineState& state);
  static void point(const TimelineInput& input, const Frame& frame, TimelineState& state);
  static bool keys(const TimelineInput& input, const Frame& frame, TimelineState& state);

  Gesture gesture_ = Gesture::none;
  float travelled_ = 0;  // pixels since the button went down: a click is a drag that went nowhere
  float vertical_ = 0;   // what of the vertical drag is not yet a whole pixel
  Nanoseconds anchor_ = 0;
};

// Scrolled no further than the last rank's end.
int clamp_scroll(int scroll, const Frame& frame);

// Scrolled as little as brings a rank on the screen; as it is, where the rank is not shown or always is.
int scroll_to(const Frame& frame, std::size_t rank);

// The view that shows one item, or one collective on all ranks if it is part of one.
TimeView view_of_item(const Frame& frame, const Item& item);

}  // namespace lockstep::viewer
