// Why no window can be opened here, and the way out.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::viewer {

struct DisplayProblem {
  std::string x11, wayland;  // DISPLAY and WAYLAND_DISPLAY; "": not set
  std::string_view glfw;     // glfwGetVersionString(): names the window systems that it was built for
  std::string reason;        // GLFW's own words; "": it was not asked
};

// A message of several lines: what is wrong, then what can be done about it, one a line.
std::string explain(const DisplayProblem& problem);

}  // namespace lockstep::viewer
