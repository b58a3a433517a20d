// Pictures: drawn off-screen, on a display of their own where there is none.
#include <cstdlib>
#include <memory>

#include "viewer/widgets/style.h"
#include "viewer/window/app.h"
#include "viewer/window/apply_first_look.h"
#include "viewer/window/run.h"
#include "viewer/window/virtual_display.h"
#include "viewer/window/window.h"

namespace lockstep::viewer {

namespace {

constexpr int kQuietFrames = 3;  // Dear ImGui settles within two
constexpr int kMaxFrames = 200;  // a picture that has not settled by then never does

bool has_display() {
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

// The window goes before its display does.
struct Offscreen {
  std::unique_ptr<VirtualDisplay> display;
  std::unique_ptr<Window> window;
};

Result<Offscreen> open_offscreen(const ShowOptions& options) {
  const WindowOptions window_options{"Lockstep", options.width, options.height, true};
  Offscreen offscreen;
  Result<std::unique_ptr<Window>> opened = Error{"no display"};
  if (has_display()) opened = Window::open(window_options);
  if (!opened.ok()) {
    // None, or one that does not work: a private one.
    Result<VirtualDisplay> started = VirtualDisplay::start(640, 480);
    if (!started.ok()) return has_display() ? opened.error() : started.error();
    offscreen.display = std::make_unique<VirtualDisplay>(std::move(started.value()));
    ::setenv("DISPLAY", offscreen.display->name().c_str(), 1);
    ::unsetenv("WAYLAND_DISPLAY");
    opened = Window::open(window_options);
    if (!opened.ok()) return opened.error();
  }
  offscreen.window = std::move(opened.value());
  return offscreen;
}

Theme theme_of(const ShowOptions& options) {
  return options.dark ? dark_theme() : light_theme();
}

float scale_of(const ShowOptions& options) {
  return static_cast<float>(options.scale.value_or(1.0));
}

}  // namespace

Result<Shot> take_picture(const Scene& scene, const ShowOptions& options) {
  Result<Offscreen> offscreen = open_offscreen(options);
  if (!offscreen.ok()) return offscreen.error();
  Window& window = *offscreen.value().window;
  App app(scene, theme_of(options), scale_of(options));
  app.leave_out(options.left_out);
  if (options.other != nullptr) app.compare_with(*options.other);
  apply_first_look(options, app);
  int quiet = 0;
  for (int frame = 0; frame < kMaxFrames && quiet < kQuietFrames; ++frame) {
    window.handle_events(false);
    window.frame(app.theme().background, [&app] { app.frame(); });
    quiet = app.busy() ? 0 : quiet + 1;
  }
  const Search& search = app.search().search();
  const bool nothing_found = !search.text().empty() && !search.busy() && search.hits().empty();
  return Shot{window.read_pixels(), app.timeline_area(), app.sizes(), app.state(), nothing_found};
}

Result<Picture> take_picture_of_page(const ShowOptions& options, const DrawPage& draw) {
  Result<Offscreen> offscreen = open_offscreen(options);
  if (!offscreen.ok()) return offscreen.error();
  Window& window = *offscreen.value().window;
  const Theme theme = theme_of(options);
  const Fonts fonts = load_fonts(scale_of(options));
  apply_style(theme, scale_of(options));
  for (int frame = 0; frame < kQuietFrames; ++frame) {
    window.handle_events(false);
    window.frame(theme.background, [&] { draw(theme, fonts); });
  }
  return window.read_pixels();
}

}  // namespace lockstep::viewer
