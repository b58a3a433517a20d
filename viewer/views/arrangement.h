// How a window's parts share its room: where panels stand, and what of the line above everything fits.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::viewer {

// Where the panels are at first. Only the usual arrangement is kept for the next window: what is made for a
// small one suits no other.
enum class PanelPlaces : std::uint8_t {
  around,  // the usual one: two stacks at the right, and one below where a run has steps
  right,   // one stack at the right: a low window, the more so with two timelines
  below,   // one stack below: a narrow window
  tabs,    // behind the timeline, as tabs of one stack: a tiny one
};
// Of a window of so many pixels, at a scale of text. `timelines`: one above the other.
PanelPlaces choose_places(float width, float height, float scale, int timelines = 1);

// What the header shows right of the run's name.
struct HeaderContents {
  bool summary = false;      // how many ranks, hosts, steps
  std::vector<bool> causes;  // of the legend
};
struct LegendEntry {
  float width = 0;
  std::int64_t time_ns = 0;  // what takes most time is left out last
};
// `gap`: between the parts. All of it where there is room; else first without the summary, then without the
// causes that take least.
HeaderContents fit_header(float room, float gap, float summary, const std::vector<LegendEntry>& legend);

}  // namespace lockstep::viewer
