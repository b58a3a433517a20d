// The window's contents: header, docked panels, timeline. One frame() is one Dear ImGui frame.
#pragma once

#include <optional>
#include <string>

#include "viewer/timeline/input.h"
#include "viewer/timeline/scene.h"
#include "viewer/window/fonts.h"
#include "viewer/window/panels.h"

namespace lockstep::viewer {

class App {
 public:
  // `scene` must outlive the App. To be made after the window, before its first frame.
  App(const Scene& scene, const Theme& theme, float scale);

  void frame();
  // The next frame may look different without any input: keys are held, a panel still finds its size.
  bool busy() const { return busy_; }
  const Theme& theme() const { return theme_; }
  TimelineState& state() { return state_; }
  // Where the last frame's timeline stood, and at which sizes.
  const Rect& timeline_area() const { return area_; }
  const Sizes& sizes() const { return sizes_; }
  // Selects a collective (index into the report's) and, if `zoom`, brings it on screen.
  void show_collective(std::uint32_t collective, bool zoom);

 private:
  void arrange_docks(unsigned dock_space);
  void timeline_window();
  void execute(const Command& command);
  TimelineInput read_input(bool hovered, bool keyboard) const;

  const Scene& scene_;
  Theme theme_;
  float scale_;
  Fonts fonts_;
  Rect area_;
  Sizes sizes_;
  TimelineState state_;
  TimelineControl control_;
  Minimap minimap_;
  std::string verdict_;
  std::optional<Item> bring_into_view_;
  bool docked_ = false;
  bool busy_ = true;
};

}  // namespace lockstep::viewer
