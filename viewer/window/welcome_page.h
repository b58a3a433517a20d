// What is seen without a run: what can be opened, and what was opened last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/opening/recent_runs.h"
#include "viewer/opening/run_presence.h"
#include "viewer/timeline/canvas.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

struct WelcomeChoice {
  std::optional<RunRequest> open;
  std::optional<RecentRun> forget;  // to be taken from the list
  bool ask_for_path = false;
};

class WelcomePage {
 public:
  // `now`: seconds since 1970. Which of the runs are there `presence` says, which outlives the page; those of
  // which that is not known look, and open, like those that are.
  WelcomePage(std::vector<RecentRun> runs, std::int64_t now, const RunPresence& presence);

  // `back`: the run that Esc leads back to; "": none. `keyboard`: keys are for the page.
  WelcomeChoice draw(const Theme& theme, const Fonts& fonts, const std::string& back, bool keyboard = false);
  // Where the last draw() put each run of the list; empty where it is scrolled away.
  const std::vector<Rect>& places() const { return places_; }

 private:
  struct Entry {
    RecentRun run;
    bool gone = false;  // as far as is known
    std::string name, place, size, when;
  };
  void read_keys(WelcomeChoice& choice);
  void draw_entry(const class Page& page, std::size_t index, float width, WelcomeChoice& choice);

  const RunPresence& presence_;
  std::vector<Entry> entries_;
  std::vector<Rect> places_;
  int at_ = -1;  // what the arrow keys have come to
  bool moved_ = false;
};

}  // namespace lockstep::viewer
