// What the window shows: the welcome page, a run on its way, a run that could not be opened, or a run; and
// how it gets from one to the other.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "viewer/opening/background_opening.h"
#include "viewer/opening/run_presence.h"
#include "viewer/opening/run_watch.h"
#include "viewer/views/first_look.h"
#include "viewer/views/session.h"
#include "viewer/window/app.h"
#include "viewer/window/notice_bar.h"
#include "viewer/window/open_prompt.h"
#include "viewer/window/opening_page.h"
#include "viewer/window/welcome_page.h"
#include "viewer/window/window.h"

namespace lockstep::viewer {

struct ShellOptions {
  bool dark = true;
  bool theme_asked_for = false;  // else the first run is shown in the theme of its last look
  float scale = 1;
  // Of every run that is opened here, as of the first: sessions and prepared files; RunRequest::clocks.
  bool keep = true;
  analyzer::Clocks clocks = analyzer::Clocks::automatic;
  std::shared_ptr<const analyzer::CommunicationPatterns> communication = nullptr;
  int cycle = 0;
  bool all_steps = false;
  FirstLookFlags first_look;          // of the first run
  std::filesystem::path layout_file;  // the arrangement of the panels; "": kept nowhere
  std::filesystem::path recent_file;  // the recent runs; "": none are kept
  // Told what a terminal should say: what is wrong with a run, or with the first look.
  std::function<void(const std::string&)> say = [](const std::string&) {};
  std::function<void()> wake = [] {};  // ends the window's sleep, from any thread
  RunPresence::Look look_for_run = presence_of;
};

class Shell {
 public:
  enum class Kind : std::uint8_t { welcome, opening, failed, run };

  // Both outlive it. Then one of show_welcome(), open() and await(), before the first frame.
  Shell(Window& window, BackgroundOpening& opening, ShellOptions options);
  // Keeps the view of an open run.
  ~Shell();
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  void show_welcome() { show(Kind::welcome); }
  // Opens a run in place of what is shown. One that takes no time to open is shown without a page in between.
  void open(const RunRequest& request);
  // The same of one that `opening` was already told of.
  void await(const RunRequest& request);

  // Between frames: takes in what was dropped, chosen and opened.
  void update();
  void frame();

  // The next frame may look different without any input.
  bool busy() const;
  // Something is under way that is worth a frame now and then.
  bool waiting() const { return opening_.state() != OpeningState::idle; }
  bool wants_to_quit() const { return wish_.quit; }
  Kind kind() const { return kind_; }
  Color background() const;
  // Why there is no run, while that is what is shown.
  std::optional<std::string> failure() const;
  std::optional<Notice> notice() const;
  // Nothing unless that is what is shown.
  App* app() { return app_.get(); }
  const WelcomePage* welcome() const { return welcome_.get(); }
  // What is known of the recent runs' being there.
  const RunPresence& presence() const { return presence_; }

 private:
  // What a frame asked for; carried out between frames.
  struct Wish {
    std::optional<RunRequest> open;
    std::optional<RecentRun> forget;
    bool again = false, recent = false, leave = false, quit = false;
  };
  struct Run {
    OpenedRun opened;
    std::filesystem::path session_file;  // found while the run was there; "": none
    std::optional<Session> session;      // as it was when the run was last shown
    std::unique_ptr<RunWatch> watch;
  };
  void carry_out_wishes();
  void take_outcome();
  void open_again();
  void leave();
  void show(Kind kind);
  void show_run();
  void put_app_away();
  void restore_session();
  void add_message(const std::string& text);
  void tell_of_search();
  void remember() const;
  void page_keys();
  void draw_page();
  void draw_run();
  RunRequest as_options_say(RunRequest request) const;
  WayOut way_out() const { return run_ || from_welcome_ ? WayOut::back : WayOut::quit; }

  Window& window_;
  BackgroundOpening& opening_;
  ShellOptions options_;
  Kind kind_ = Kind::welcome;
  bool dark_;
  Theme theme_;  // of pages; a run has its own
  Fonts fonts_;
  bool from_welcome_ = false;  // where Esc leads back to, when there is no run
  bool again_ = false;         // what is being opened is what is shown
  bool first_ = true;          // the first look is still to come
  RunRequest request_;         // what is being opened, or could not be
  std::string failure_, advice_;
  std::string message_;       // about the open run, until it is hidden
  std::string search_asked_;  // by the first look, until it is known whether it finds anything
  OnDisk hidden_ = OnDisk::same;
  Wish wish_;
  int settling_ = 0;  // frames until everything has found its size
  std::optional<Notice> notice_drawn_;
  OpenPrompt prompt_;
  RunPresence presence_;
  std::unique_ptr<WelcomePage> welcome_;  // uses the presence
  std::unique_ptr<Run> run_;
  std::unique_ptr<App> app_;  // the last: it uses the run
};

}  // namespace lockstep::viewer
