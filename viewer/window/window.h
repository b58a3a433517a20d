// A GLFW window with an OpenGL 3.3 core context and Dear ImGui on it, and the same off-screen for pictures.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "viewer/timeline/canvas.h"
#include "viewer/window/png_writer.h"

struct GLFWwindow;

namespace lockstep::viewer {

struct WindowOptions {
  std::string title;
  int width = 1600;
  int height = 960;
  // Hidden, and drawn into a buffer of exactly this size, whatever the display's.
  bool offscreen = false;
};

class Window {
 public:
  // Errors name the way out: no display, no OpenGL 3.3.
  static Result<std::unique_ptr<Window>> open(const WindowOptions& options);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // The display's scale: 2 on one with twice the usual density.
  float content_scale() const;
  // Of what is drawn into, in Dear ImGui's pixels: across and down.
  Point size() const;
  bool should_close() const;

  // One frame: `draw` calls Dear ImGui. Shows it, unless off-screen; the first one shows the window.
  void frame(Color background, const std::function<void()>& draw);
  // Handles what has happened; if `wait`, sleeps until something does.
  void handle_events(bool wait);
  // The same, for at most so long.
  void handle_events_within(double seconds);
  // Ends such a sleep; from any thread, while there is a window.
  static void wake();
  // A fresh Dear ImGui context: nothing of what was drawn before is remembered. Not within frame(); what was
  // made for the former context has to be gone.
  void renew();
  void set_title(const std::string& title);
  // Files and folders that were dropped onto the window since the last call.
  std::vector<std::string> take_dropped();
  // The window was given the keyboard since the last call.
  bool take_was_focused();
  // Input arrived since the last call.
  bool take_had_input();

  // What the last frame took from NewFrame to Render: its own work, without that of the driver.
  double own_seconds() const { return own_seconds_; }
  // Whether frames reach the screen: without, only their own work is done. Textures are uploaded by those
  // that do.
  void set_rasterizing(bool on) { rasterizing_ = on; }
  // Where the pointer is from the next frame on; absent: nowhere. Precondition: offscreen.
  void set_pointer(std::optional<Point> pointer) { pointer_ = pointer; }

  // What the last frame drew. Precondition: offscreen.
  Picture read_pixels() const;

 private:
  Window() = default;
  Status set_up(const WindowOptions& options);
  Status make_buffer();
  void fit_screen();
  Status make_context();
  void end_context();

  GLFWwindow* window_ = nullptr;
  WindowOptions options_;
  std::optional<Point> pointer_;
  double own_seconds_ = 0;
  bool rasterizing_ = true;
  bool imgui_ = false;
  bool had_input_ = true;
  bool was_focused_ = false;
  bool shown_ = false;
  std::vector<std::string> dropped_;
  unsigned buffer_ = 0;
  unsigned color_ = 0;
};

}  // namespace lockstep::viewer
