// Shows runs: in a window until it is closed, or one of them once, as a picture.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "viewer/opening/run_request.h"
#include "viewer/panels/panel.h"
#include "viewer/timeline/scene.h"
#include "viewer/views/first_look.h"
#include "viewer/widgets/fonts.h"
#include "viewer/window/png_writer.h"

namespace lockstep::viewer {

struct ShowOptions : FirstLook {
  int width = 1600;
  int height = 960;
  bool dark = true;
  bool theme_asked_for = false;             // windows: it comes before that of the last look
  std::optional<double> scale;              // absent: the display's
  const Scene* other = nullptr;             // a second run, to compare with; pictures only
  std::vector<const Panel*> left_out = {};  // panels that there are none of; pictures only
};

// What a window needs beside that.
struct WindowContents {
  std::optional<RunRequest> request;  // absent: the welcome page
  FirstLookFlags flags;
  std::filesystem::path layout_file, recent_file;  // "": kept nowhere
};

struct WindowEnd {
  Status status;            // an error where no window could be opened
  int signal = 0;           // that closed it; 0: none
  bool run_failed = false;  // it was closed with a run in it that could not be opened
  // A worker still reads. The process has to be ended without destroying anything (std::_Exit).
  bool at_work = false;
};

// On standard error, as "lockstep view: MESSAGE", which may have several lines.
void tell_terminal(const std::string& message);

// Until the window is closed. What is wrong with a run it says itself, in the window and on standard error.
WindowEnd show_window(const WindowContents& contents, const ShowOptions& options);

// A picture, and what it takes to know where on it something stands.
struct Shot {
  Picture picture;
  Rect timeline;
  Sizes sizes;
  TimelineState state;
  bool nothing_found = false;  // there was something to search for
};

// Draws until nothing changes any more. Starts Xvfb for itself where there is no display.
Result<Shot> take_picture(const Scene& scene, const ShowOptions& options);
// The same of a page without a run, which `draw` draws in a scale's fonts.
using DrawPage = std::function<void(const Theme& theme, const Fonts& fonts)>;
Result<Picture> take_picture_of_page(const ShowOptions& options, const DrawPage& draw);

}  // namespace lockstep::viewer
