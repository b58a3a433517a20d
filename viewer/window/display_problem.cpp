#include "viewer/window/display_problem.h"

#include <fmt/format.h>

namespace lockstep::viewer {

namespace {

constexpr const char* kPicture =
    "\n  a picture needs no display: lockstep view RUN --screenshot FILE.png (it starts Xvfb itself)";
constexpr const char* kAnotherMachine =
    "\n  a window from another machine: log in with ssh -X, or set DISPLAY to a server that runs (Xvfb, VNC)";

}  // namespace

std::string explain(const DisplayProblem& problem) {
  const bool knows_x11 = problem.glfw.find("X11") != std::string_view::npos;
  const bool knows_wayland = problem.glfw.find("Wayland") != std::string_view::npos;
  if (problem.x11.empty() && problem.wayland.empty())
    return fmt::format("no display: neither DISPLAY nor WAYLAND_DISPLAY is set{}{}", kPicture,
                       kAnotherMachine);
  if (problem.x11.empty() && !knows_wayland)
    return fmt::format(
        "no display: this session is Wayland ('{}') without X11, and this machine's GLFW is for X11: DISPLAY "
        "is not set\n"
        "  a window: turn Xwayland on in the compositor (package xwayland), or install the package "
        "libglfw3-wayland in place of libglfw3{}",
        problem.wayland, kPicture);
  // Nor would Xvfb help this one to a picture.
  if (problem.wayland.empty() && !knows_x11)
    return fmt::format(
        "no display: this session is X11 ('{}'), and this machine's GLFW is for Wayland: WAYLAND_DISPLAY is "
        "not set\n"
        "  install the package libglfw3 in place of libglfw3-wayland",
        problem.x11);
  const std::string& name = problem.x11.empty() || !knows_x11 ? problem.wayland : problem.x11;
  return fmt::format("can't use the display '{}': {}{}{}", name, problem.reason, kPicture, kAnotherMachine);
}

}  // namespace lockstep::viewer
