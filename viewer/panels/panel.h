// A panel: all that the window knows of it. Each stands in one file of viewer/panels/ and in the list
// panels.def, which windows, their arrangement, the palette, the keys, sessions, `--panel` and tests read
// (panel_list.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "viewer/views/command.h"
#include "viewer/views/diff.h"
#include "viewer/views/session.h"
#include "viewer/widgets/fonts.h"
#include "viewer/widgets/timeline_pane.h"

namespace lockstep::viewer {

class PanelStates;
struct Panel;

// Two runs that are compared.
struct ComparedRuns {
  const TimelinePane& a;
  const TimelinePane& b;
  const RunDiff& diff;
  const StepAlignment& alignment;
};

// What a panel is drawn with.
struct PanelContext {
  TimelinePane& pane;                      // of the run that the panel is about; of both, A's
  PanelStates& states;                     // of that run's panels
  const ComparedRuns* compared = nullptr;  // nullptr: there is one run
  const Theme& theme;
  const Fonts& fonts;
  std::function<void(const Panel&)> show;  // brings a panel to the front
};

// What a panel keeps of a run from one frame to the next.
class PanelState {
 public:
  PanelState() = default;
  virtual ~PanelState() = default;
  PanelState(const PanelState&) = delete;
  PanelState& operator=(const PanelState&) = delete;

  // Something is being computed, and will be shown without any input.
  virtual bool busy() const { return false; }
  // Until it is not.
  virtual void wait() {}
  // Its key has brought the panel to the front: what is typed next is meant for it.
  virtual void take_keyboard() {}
  // What of it is kept until the next look at the run.
  virtual void keep_in(Session&) const {}
  virtual void restore_from(const Session&) {}
};

template <typename State>
std::unique_ptr<PanelState> new_state(const Scene& scene) {
  return std::make_unique<State>(scene);
}

// Which stack of tabs a panel is in at first. The first panel of each stack is in front.
enum class PanelPlace : std::uint8_t {
  above,   // at the right, the upper stack
  below,   // at the right, the lower one
  bottom,  // below the timeline, where a run has steps; else with those of `below`
};

// What a panel is about, where two runs are compared.
enum class PanelRuns : std::uint8_t {
  either,   // the one that is chosen in the first line of any such panel
  first,    // A
  pointed,  // the one whose timeline the pointer was in last
  both,     // without a second run there is no such panel
};

struct PanelKey {
  // The character that is typed, as text; "": none.
  const char* typed = "";
  const char* does = "";  // as the list of keys says it
};

struct Panel {
  // Its name everywhere: of its tab, in the palette and for `--panel`. Kept arrangements know panels by it,
  // so it never changes.
  const char* title;
  PanelPlace place = PanelPlace::above;
  PanelRuns runs = PanelRuns::either;
  PanelKey key = {};
  // Whether a run has what the panel shows. Where it has not, it is drawn all the same, and says what is
  // missing. nullptr: every run has something.
  bool (*needs)(const Scene& scene) = nullptr;
  // nullptr: it keeps nothing.
  std::unique_ptr<PanelState> (*make_state)(const Scene& scene) = nullptr;
  // Within its window. What is clicked is returned, and done in the context's pane.
  Command (*draw)(const PanelContext& context);
};

}  // namespace lockstep::viewer
