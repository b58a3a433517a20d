#include "viewer/window/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "analyzer/report/unicode.h"
#include "base/standard_streams.h"
#include "viewer/opening/background_opening.h"
#include "viewer/window/closing_signals.h"
#include "viewer/window/shell.h"
#include "viewer/window/window.h"

namespace lockstep::viewer {

namespace {

// After input, so many frames are drawn before the window sleeps: Dear ImGui settles within two.
constexpr int kQuietFrames = 3;
// While a run is opened, its progress is drawn so often.
constexpr double kProgressSeconds = 0.1;
// So long a closed window's worker may take to stop.
constexpr std::chrono::milliseconds kGrace{300};

void until_closed(Window& window, Shell& shell, const ClosingSignals& signals) {
  int quiet = 0;
  while (!window.should_close() && !shell.wants_to_quit() && signals.received() == 0) {
    if (quiet < kQuietFrames)
      window.handle_events(false);
    else if (shell.waiting())
      window.handle_events_within(kProgressSeconds);
    else
      window.handle_events(true);
    shell.update();
    window.frame(shell.background(), [&shell] { shell.frame(); });
    quiet = window.take_had_input() || shell.busy() ? 0 : quiet + 1;
  }
}

}  // namespace

void tell_terminal(const std::string& message) {
  std::string text;
  for (std::string_view rest = message; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    text += analyzer::printable(line) + "\n";
  }
  tell("lockstep view: " + (text.empty() ? "\n" : text));
}

WindowEnd show_window(const WindowContents& contents, const ShowOptions& options) {
  WindowEnd end;
  // Woken only while there is a window.
  std::atomic<bool> awake{false};
  const auto wake = [&awake] {
    if (awake) Window::wake();
  };
  ClosingSignals signals(wake);
  auto opening = std::make_unique<BackgroundOpening>(wake);
  if (contents.request) opening->open(*contents.request);
  if (Result<std::unique_ptr<Window>> window =
          Window::open({"Lockstep", options.width, options.height, false});
      window.ok()) {
    awake = true;
    ShellOptions shell_options;
    shell_options.dark = options.dark;
    shell_options.theme_asked_for = options.theme_asked_for;
    shell_options.scale = static_cast<float>(options.scale.value_or(window.value()->content_scale()));
    if (contents.request) {
      shell_options.keep = contents.request->keep;
      shell_options.clocks = contents.request->clocks;
      shell_options.communication = contents.request->communication;
      shell_options.cycle = contents.request->cycle;
      shell_options.all_steps = contents.request->all_steps;
    }
    shell_options.first_look = contents.flags;
    shell_options.layout_file = contents.layout_file;
    shell_options.recent_file = contents.recent_file;
    shell_options.say = tell_terminal;
    shell_options.wake = wake;
    Shell shell(*window.value(), *opening, std::move(shell_options));
    if (contents.request)
      shell.await(*contents.request);
    else
      shell.show_welcome();
    until_closed(*window.value(), shell, signals);
    end.run_failed = shell.failure().has_value();
    opening->cancel();
    awake = false;
  } else {
    end.status = window.error();
  }
  end.signal = signals.received();
  end.at_work = !opening->finish(kGrace);
  // Its destructor would wait.
  if (end.at_work) (void)opening.release();
  return end;
}

}  // namespace lockstep::viewer
