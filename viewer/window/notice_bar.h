// A thin bar above an open run: something about it that the user should know.
#pragma once

#include <optional>
#include <string>

#include "viewer/opening/background_opening.h"
#include "viewer/opening/run_watch.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

struct Notice {
  std::string text;
  bool can_open_again = false;
  bool can_hide = false;
  bool operator==(const Notice&) const = default;
};

// What there is to say.
struct Circumstances {
  std::optional<OpeningProgress> opening_again;
  std::string hint;     // the answer to what the user just did; "": none
  std::string message;  // about the opening; "": none
  bool cut = false;     // the mapped file was cut (Tables::was_cut)
  OnDisk on_disk = OnDisk::same;
};
// Of several the one that matters most.
std::optional<Notice> notice_of(const Circumstances& circumstances);

struct NoticeChoice {
  bool open_again = false;
  bool hide = false;
};
// Takes its height from the window's work area, from the next frame on.
NoticeChoice draw_notice(const Notice& notice, const Theme& theme, const Fonts& fonts);

}  // namespace lockstep::viewer
