// A run on its way, and a run that could not be opened.
#pragma once

#include <chrono>
#include <string>

#include "viewer/opening/background_opening.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

// What Esc does there.
enum class WayOut : std::uint8_t { quit, back };

// `elapsed`: since it was begun.
void draw_opening_page(const RunRequest& request, const OpeningProgress& progress,
                       std::chrono::milliseconds elapsed, WayOut way_out, const Theme& theme,
                       const Fonts& fonts);

struct FailedChoice {
  bool again = false;
  bool ask_for_path = false;
  bool recent = false;
  bool leave = false;
};
// `advice`: of advice_on().
FailedChoice draw_failed_page(const RunRequest& request, const std::string& message,
                              const std::string& advice, WayOut way_out, const Theme& theme,
                              const Fonts& fonts);
// What the user can do about it, in a sentence or two. Looks at the disk: not for every frame.
std::string advice_on(const RunRequest& request);

}  // namespace lockstep::viewer
