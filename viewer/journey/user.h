// Mouse and keyboard, for scripts. Each action takes as many frames as it needs.
#pragma once

#include <imgui_te_context.h>

#include <string>

#include "viewer/journey/places.h"
#include "viewer/window/app.h"

namespace lockstep::viewer::journey {

class User {
 public:
  // `log_next_frame`: set where the next frame's text is to be logged.
  User(ImGuiTestContext& engine, App& app, bool& log_next_frame)
      : engine_(engine), app_(app), log_next_frame_(log_next_frame) {}

  // For panels: items by their names.
  ImGuiTestContext& engine() { return engine_; }
  App& app() { return app_; }
  TimelineState& state() { return app_.pane().state(); }
  // Of the run, or of the second one.
  Places places(bool second = false) const;

  // Until nothing changes any more and everything that is computed is there.
  void settle();
  // Long enough that what comes next is a movement of its own: Backspace goes back by movements.
  void rest();

  void point_to(Point point);
  void click(Point point);
  void double_click(Point point);
  void drag(Point from, Point to, ImGuiKeyChord held = 0);
  void wheel(float notches, ImGuiKeyChord held = 0);
  // The key; where it writes something, that too: '/'.
  void press(ImGuiKeyChord key, char writes = '\0');
  void hold(ImGuiKey key, int frames);
  void type(const std::string& text);
  // Brings a panel to the front, by a click on its tab.
  void show(const std::string& panel);

  // Whether the window was drawn in the last frame: a panel behind others is not.
  bool sees(const std::string& window) const;
  // All text of the panels, lists to their ends, with "|" between a table's cells.
  std::string drawn_text();

 private:
  ImGuiTestContext& engine_;
  App& app_;
  bool& log_next_frame_;
};

}  // namespace lockstep::viewer::journey
