// The window of `lockstep-view` under a real X server (Xvfb): what desktops and users do to it, by X events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>

#include "tests/end_to_end/background_run.h"
#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"
#include "tests/end_to_end/x_client.h"
#include "viewer/timeline/theme.h"
#include "viewer/views/session.h"
#include "viewer/window/virtual_display.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;

std::uint32_t packed(viewer::Color color) {
  return static_cast<std::uint32_t>(color.r) << 16 | static_cast<std::uint32_t>(color.g) << 8 | color.b;
}

const std::uint32_t kCompute = packed(viewer::cause_color(viewer::dark_theme(), analyzer::Cause::compute));

class ViewerWindow : public testing::Test {
 protected:
  void SetUp() override {
    auto display = viewer::VirtualDisplay::start(1400, 1000);
    if (!display.ok()) GTEST_SKIP() << display.error().message;
    display_.emplace(std::move(display.value()));
    x_.emplace(display_->name());
    write_two_ranks(run_);
  }

  // lockstep-view with these arguments, until its window shows the page of this title, and the pointer beside
  // it. False: it does not; or nothing can be drawn on such a display, and the test is skipped.
  bool start(const std::vector<std::string>& arguments, const std::string& title) {
    try_to_start(arguments, title);
    return !HasFatalFailure() && !IsSkipped();
  }
  void try_to_start(std::vector<std::string> arguments, const std::string& title) {
    arguments.insert(arguments.begin(), {binary("lockstep-view"), "--size", "1200x800"});
    // A user of its own; the leaks of the OpenGL driver are not ours.
    viewer_.emplace(folder_, arguments,
                    std::vector<std::string>{
                        "DISPLAY=" + display_->name(), "WAYLAND_DISPLAY=", "HOME=" + folder_ / "home",
                        "XDG_STATE_HOME=" + folder_ / "state", "XDG_CONFIG_HOME=" + folder_ / "config",
                        "XDG_CACHE_HOME=" + folder_ / "cache", "ASAN_OPTIONS=detect_leaks=0"});
    if (!x_->wait_for_window(viewer_->process())) {
      const std::string why = viewer_->error_output();
      if (why.find("OpenGL 3.3") != std::string::npos || why.find("GLFW is for Wayland") != std::string::npos)
        GTEST_SKIP() << why;
      FAIL() << "no window: " << why;
    }
    ASSERT_TRUE(x_->wait_for_title(title)) << x_->title() << "\n" << viewer_->error_output();
    x_->give_keyboard();
    x_->point_at(1300, 900);
    ASSERT_TRUE(x_->wait_until_settled()) << viewer_->error_output();
  }
  // What it said itself; drivers and sanitizers say what they like.
  static std::string own_words(const std::string& standard_error) {
    std::istringstream lines(standard_error);
    std::string own;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("lockstep view:")) own += line + "\n";
    return own;
  }
  bool comes_to_say(const std::string& text) const {
    return eventually([&] { return viewer_->error_output().find(text) != std::string::npos; });
  }
  static std::string title_of(const std::filesystem::path& run) { return "Lockstep: " + run.string(); }
  Outcome end() {
    if (x_->wait_until_gone()) return viewer_->finish();
    ADD_FAILURE() << "the window is still there";
    return {};
  }
  viewer::Session kept() const {
    const auto session = viewer::read_session(run_ / ".lockstep-view-session");
    EXPECT_TRUE(session.ok());
    return session.ok() ? session.value() : viewer::Session{};
  }

  const TemporaryFolder folder_;
  const std::filesystem::path run_ = folder_.path() / "a run 50% über";
  std::optional<viewer::VirtualDisplay> display_;
  std::optional<XClient> x_;
  std::optional<BackgroundRun> viewer_;
};

TEST_F(ViewerWindow, ARunThatIsDroppedOnItOpens) {
  if (!start({}, "Lockstep")) return;
  EXPECT_LT(x_->pixels_of(kCompute), 5'000) << "the sign of the welcome page";
  ASSERT_EQ(x_->drop("# a comment\r\nfile://" + folder_ / "a%20run%2050%25%20%C3%BCber" + "\r\n"), "");
  ASSERT_TRUE(x_->wait_for_title(title_of(run_))) << x_->title();
  ASSERT_TRUE(x_->wait_until_settled());
  EXPECT_GT(x_->pixels_of(kCompute), 5'000);
  x_->ask_to_close();
  EXPECT_EQ(end().exit_code, 0);
  EXPECT_THAT(test::read_whole_file(folder_.path() / "state/lockstep/recent-runs"), HasSubstr(run_.string()));
}

TEST_F(ViewerWindow, WhatIsDroppedAndNoRunIsSaidAndTheNextDropOpens) {
  folder_.write("letter.txt", "Dear Sir or Madam");
  if (!start({}, "Lockstep")) return;
  ASSERT_EQ(x_->drop("file://" + folder_ / "letter.txt" + "\r\n"), "");
  ASSERT_TRUE(x_->wait_for_title("Lockstep: letter.txt")) << x_->title();
  // The page of a run on its way has that title too.
  ASSERT_TRUE(comes_to_say("letter.txt"));
  ASSERT_TRUE(x_->wait_until_settled());
  ASSERT_EQ(x_->drop("file://" + folder_ / "a%20run%2050%25%20%C3%BCber" + "\r\n"), "");
  ASSERT_TRUE(x_->wait_for_title(title_of(run_))) << x_->title();
  x_->ask_to_close();
  const Outcome outcome = end();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.standard_error, HasSubstr("letter.txt"));
}

TEST_F(ViewerWindow, ClosedByTheWindowManagerItKeepsMarksAndNotes) {
  viewer::Session before;
  before.notes = "seen on Monday";
  before.marks.push_back({1'000, "here"});
  ASSERT_TRUE(viewer::write_session(run_ / ".lockstep-view-session", before).ok());
  if (!start({run_.string()}, title_of(run_))) return;
  x_->point_at(500, 300);
  ASSERT_TRUE(x_->wait_for_frame());
  x_->press("m");
  ASSERT_TRUE(x_->wait_for_frame());
  x_->ask_to_close();
  const Outcome outcome = end();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(own_words(outcome.standard_error), "");
  const viewer::Session session = kept();
  EXPECT_EQ(session.notes, "seen on Monday");
  ASSERT_EQ(session.marks.size(), 2U);
  EXPECT_EQ(session.marks[0].note, "here");
  EXPECT_TRUE(session.view.has_value());
}

TEST_F(ViewerWindow, KeysReachItAndCtrlQEndsIt) {
  if (!start({run_.string()}, title_of(run_))) return;
  EXPECT_EQ(x_->pixels_of(packed(viewer::light_theme().background)), 0);
  x_->press("t");
  ASSERT_TRUE(x_->wait_until_settled());
  EXPECT_GT(x_->pixels_of(packed(viewer::light_theme().background)), 5'000);
  x_->press("q", {"Control_L"});
  EXPECT_EQ(end().exit_code, 0);
  EXPECT_EQ(kept().dark, false);
}

TEST_F(ViewerWindow, WhatComesAllAtOnceIsUnderstood) {
  if (!start({run_.string()}, title_of(run_))) return;
  x_->point_at(700, 500);
  ASSERT_TRUE(x_->wait_for_frame());
  x_->drag(400, 600, 300, "Shift_L");
  ASSERT_TRUE(x_->wait_for_frame());
  x_->press_hastily("q", {"Control_L"});
  EXPECT_EQ(end().exit_code, 0);
  const std::optional<viewer::TimeRange> measured = kept().measured;
  ASSERT_TRUE(measured.has_value());
  EXPECT_LT(measured->begin, measured->end);
}

TEST_F(ViewerWindow, NothingIsRememberedWithoutACache) {
  if (!start({run_.string(), "--no-cache"}, title_of(run_))) return;
  x_->press("t");
  ASSERT_TRUE(x_->wait_for_frame());
  x_->ask_to_close();
  EXPECT_EQ(end().exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "config/lockstep"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "state/lockstep"));
  EXPECT_FALSE(std::filesystem::exists(run_ / ".lockstep-view-session"));
}

TEST_F(ViewerWindow, AnySizeOfItIsDrawn) {
  if (!start({run_.string()}, title_of(run_))) return;
  const int before = x_->pixels_of(kCompute);
  EXPECT_GT(before, 5'000);
  for (const auto& [width, height] :
       {std::pair{1, 1}, std::pair{1200, 1}, std::pair{3, 900}, std::pair{40, 30}, std::pair{1200, 800}}) {
    ASSERT_TRUE(x_->resize(width, height)) << width << " x " << height;
    ASSERT_TRUE(x_->wait_for_frame()) << width << " x " << height << viewer_->error_output();
  }
  ASSERT_TRUE(x_->wait_until_settled());
  EXPECT_EQ(x_->pixels_of(kCompute), before);
  x_->ask_to_close();
  const Outcome outcome = end();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(own_words(outcome.standard_error), "");
}

// Too small for a line of text.
TEST_F(ViewerWindow, PagesWithoutARunAreDrawnInAnySize) {
  for (const std::string& path : {std::string(), folder_ / "absent"}) {
    if (!start(path.empty() ? std::vector<std::string>{} : std::vector{path},
               path.empty() ? "Lockstep" : "Lockstep: absent"))
      return;
    if (!path.empty()) {
      ASSERT_TRUE(comes_to_say("absent"));
    }
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{1000, 2}, std::pair{2, 700}}) {
      ASSERT_TRUE(x_->resize(width, height)) << width << " x " << height;
      ASSERT_TRUE(x_->wait_for_frame()) << width << " x " << height << viewer_->error_output();
    }
    x_->ask_to_close();
    EXPECT_EQ(end().exit_code, path.empty() ? 0 : 1);
    x_.emplace(display_->name());
  }
}

}  // namespace
}  // namespace lockstep::end_to_end
