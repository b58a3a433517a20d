// Shows a loaded run: in a window until it is closed, or once, as a picture.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trace/result.h"
#include "viewer/timeline/scene.h"
#include "viewer/views/command.h"
#include "viewer/window/png_writer.h"

namespace lockstep::viewer {

struct ShowOptions {
  int width = 1600;
  int height = 960;
  bool dark = true;
  std::optional<double> scale;              // absent: the display's
  std::optional<TimeRange> range;           // what to show first
  std::optional<std::uint32_t> collective;  // index into the report's: selected and shown
  Command go_to;                            // what else to show first
  std::string panel;                        // to bring to the front: "Findings"; "": as they are
  std::string search;                       // what to search for; "": nothing
  std::optional<TimeRange> measured;        // a range to measure
  const Scene* other = nullptr;             // a second run, to compare with
  // Windows only. Where view, marks and notes are kept, and where the arrangement of the panels is; "": not.
  std::filesystem::path session_file, layout_file;
};

// Until the window is closed.
Status show_window(const Scene& scene, const ShowOptions& options);

// A picture, and what it takes to know where on it something stands.
struct Shot {
  Picture picture;
  Rect timeline;
  Sizes sizes;
  TimelineState state;
};

// Draws until nothing changes any more. Starts Xvfb for itself where there is no display.
Result<Shot> take_picture(const Scene& scene, const ShowOptions& options);

}  // namespace lockstep::viewer
