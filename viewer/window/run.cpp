#include "viewer/window/run.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "viewer/window/app.h"
#include "viewer/window/virtual_display.h"
#include "viewer/window/window.h"

namespace lockstep::viewer {

namespace {

// After input, so many frames are drawn before the window sleeps: Dear ImGui settles within two.
constexpr int kQuietFrames = 3;
constexpr int kMostFrames = 200;  // a picture that has not settled by then never does

bool has_display() {
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

void apply(const ShowOptions& options, const Scene& scene, App& app) {
  if (options.range) app.state().view = clamp(fit(*options.range, 0), scene.timeline().content);
  if (options.collective) app.execute({.collective = options.collective, .range = options.range});
  if (options.measured) app.state().measured = options.measured;
  if (!options.search.empty()) app.search().set_text(options.search);
  if (!options.panel.empty()) app.show_panel(options.panel);
  app.execute(options.go_to);
}

bool shows_a_place(const ShowOptions& options) {
  return options.range || options.collective || options.go_to.any();
}

// What the user left there. A place that was asked for comes before it.
void restore(const ShowOptions& options, App& app) {
  if (options.session_file.empty()) return;
  Result<Session> session = read_session(options.session_file);
  if (!session.ok()) {
    fmt::print(stderr, "lockstep view: warning: {}\n", session.error().message);
    return;
  }
  if (shows_a_place(options)) session.value().view.reset();
  app.restore_session(session.value());
}

// Keeping it is a convenience: a folder where nobody may write costs no word but one.
void keep(const ShowOptions& options, const App& app) {
  if (options.session_file.empty()) return;
  const Status kept = write_session(options.session_file, app.session());
  if (!kept.ok())
    fmt::print(stderr, "lockstep view: warning: view and notes are not kept: {}\n", kept.error().message);
}

}  // namespace

Status show_window(const Scene& scene, const ShowOptions& options) {
  Result<std::unique_ptr<Window>> opened =
      Window::open({fmt::format("Lockstep: {}", scene.report().path), options.width, options.height, false});
  if (!opened.ok()) return opened.error();
  Window& window = *opened.value();
  App app(scene, options.dark ? dark_theme() : light_theme(),
          static_cast<float>(options.scale.value_or(window.content_scale())));
  if (options.other != nullptr) {
    app.compare_with(*options.other);
  } else {
    app.keep_layout_in(options.layout_file);
  }
  restore(options, app);
  apply(options, scene, app);
  int quiet = 0;
  while (!window.should_close()) {
    const bool sleep = quiet >= kQuietFrames;
    window.handle_events(sleep);
    window.frame(app.theme().background, [&app] { app.frame(); });
    quiet = window.take_had_input() || app.busy() ? 0 : quiet + 1;
  }
  keep(options, app);
  return {};
}

Result<Shot> take_picture(const Scene& scene, const ShowOptions& options) {
  const WindowOptions window_options{"Lockstep", options.width, options.height, true};
  std::unique_ptr<VirtualDisplay> display;
  Result<std::unique_ptr<Window>> opened = Error{"no display"};
  if (has_display()) opened = Window::open(window_options);
  if (!opened.ok()) {
    // None, or one that does not work: a private one.
    Result<VirtualDisplay> started = VirtualDisplay::start(640, 480);
    if (!started.ok()) return has_display() ? opened.error() : started.error();
    display = std::make_unique<VirtualDisplay>(std::move(started.value()));
    ::setenv("DISPLAY", display->name().c_str(), 1);
    ::unsetenv("WAYLAND_DISPLAY");
    opened = Window::open(window_options);
    if (!opened.ok()) return opened.error();
  }
  Shot shot{{}, {}, {}, TimelineState(scene.timeline())};
  {
    const std::unique_ptr<Window> window = std::move(opened.value());
    App app(scene, options.dark ? dark_theme() : light_theme(),
            static_cast<float>(options.scale.value_or(1.0)));
    if (options.other != nullptr) app.compare_with(*options.other);
    apply(options, scene, app);
    int quiet = 0;
    for (int frame = 0; frame < kMostFrames && quiet < kQuietFrames; ++frame) {
      window->handle_events(false);
      window->frame(app.theme().background, [&app] { app.frame(); });
      quiet = app.busy() ? 0 : quiet + 1;
    }
    shot = {window->read_pixels(), app.timeline_area(), app.sizes(), app.state()};
  }
  // The window is gone before its display is.
  return shot;
}

}  // namespace lockstep::viewer
