// A Shell in an off-screen window: clicks and keys are given to Dear ImGui, runs are opened by the test
// itself.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <cstdlib>
#include <future>

#include "tests/temporary_folder.h"
#include "viewer/opening/prepared_file.h"
#include "viewer/testing/view_fixture.h"
#include "viewer/window/shell.h"
#include "viewer/window/virtual_display.h"

namespace lockstep::viewer {

using Kind = Shell::Kind;

// One window for all tests: a test takes it, and leaves it without a Shell.
inline Window* shared_window() {
  struct Shown {
    std::unique_ptr<VirtualDisplay> display;
    std::unique_ptr<Window> window;
  };
  static Shown* const shown = [] {
    auto made = std::make_unique<Shown>();
    Result<VirtualDisplay> display = VirtualDisplay::start(640, 480);
    if (!display.ok()) return made.release();
    made->display = std::make_unique<VirtualDisplay>(std::move(display.value()));
    ::setenv("DISPLAY", made->display->name().c_str(), 1);
    ::unsetenv("WAYLAND_DISPLAY");
    Result<std::unique_ptr<Window>> window = Window::open({"test", 1000, 700, true});
    if (window.ok()) made->window = std::move(window.value());
    return made.release();
  }();
  return shown->window.get();
}

class ShellTest : public testing::Test {
 protected:
  ShellTest()
      : opening_({}, [this](const RunRequest& request, const TellProgress& tell,
                            const std::stop_token& stop) { return open(request, tell, stop); }) {}
  void SetUp() override {
    if (shared_window() == nullptr) GTEST_SKIP() << "nothing can be drawn here";
    start();
  }
  void TearDown() override { shell_.reset(); }

  // Paths are commands: "slow" waits until it is asked to stop, "broken" fails, all else is a run.
  Result<OpenedRun> open(const RunRequest& request, const TellProgress&, const std::stop_token& stop) {
    const std::string name = name_of(request);
    last_request_ = request;
    if (name == "slow") {
      std::promise<void> stopped;
      const std::stop_callback ask(stop, [&stopped] { stopped.set_value(); });
      stopped.get_future().wait();
      return Error{"stopped"};
    }
    if (name == "broken") return Error{"broken: it holds no trace"};
    OpenedRun opened;
    opened.request = request;
    opened.scene = View::load(synthetic_job(job_));
    opened.on_disk.push_back({request.paths, look_at(request.paths).fingerprint});
    return opened;
  }
  void start(const FirstLookFlags& flags = {}, bool theme_asked_for = false) {
    shell_.reset();
    ShellOptions options;
    options.theme_asked_for = theme_asked_for;
    options.first_look = flags;
    options.scale = scale_;
    options.keep = keep_;
    options.clocks = clocks_;
    options.layout_file = layout_file_;
    options.recent_file = folder_.path() / "recent-runs";
    options.say = [this](const std::string& text) { said_.push_back(text); };
    options.look_for_run = look_for_run_;
    shell_ = std::make_unique<Shell>(*shared_window(), opening_, std::move(options));
  }
  RunRequest request(const std::string& name) const { return {{folder_ / name}, "", true}; }
  // What opens is opened to its end, unless it is slow.
  void open(const std::string& name) {
    shell_->open(request(name));
    if (name != "slow") opening_.wait_for(std::chrono::minutes(2));
    frames();
  }
  void frames(int count = 4) {
    for (int i = 0; i < count; ++i) {
      shell_->update();
      shared_window()->frame(shell_->background(), [this] { shell_->frame(); });
    }
  }
  void press(ImGuiKey key, ImGuiKey held = ImGuiKey_None) {
    ImGuiIO& io = ImGui::GetIO();
    if (held != ImGuiKey_None) io.AddKeyEvent(held, true);
    io.AddKeyEvent(key, true);
    frames(2);
    // A page may have gone, and its context with it.
    ImGui::GetIO().AddKeyEvent(key, false);
    if (held != ImGuiKey_None) ImGui::GetIO().AddKeyEvent(held, false);
    frames(2);
  }
  void click(Point at) {
    shared_window()->set_pointer(at);
    frames(2);
    ImGui::GetIO().AddMouseButtonEvent(0, true);
    frames(2);
    ImGui::GetIO().AddMouseButtonEvent(0, false);
    frames(2);
    shared_window()->set_pointer(std::nullopt);
  }

  const test::TemporaryFolder folder_;
  RunPresence::Look look_for_run_ = presence_of;
  bool keep_ = true;
  analyzer::Clocks clocks_ = analyzer::Clocks::automatic;
  SyntheticOptions job_;     // what every run holds
  RunRequest last_request_;  // to be read when it is opened
  std::filesystem::path layout_file_;
  float scale_ = 1;  // of 1000 x 700 pixels: at twice the scale a small window, at three times a tiny one
  std::vector<std::string> said_;
  BackgroundOpening opening_;
  std::unique_ptr<Shell> shell_;
};

}  // namespace lockstep::viewer
