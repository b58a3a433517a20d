// A small field for the path of a run, above whatever is shown.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "viewer/opening/run_request.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

// What was typed, as a path: without the blanks around it, "~/" as the home folder. Errors: nothing, or
// nothing there.
Result<std::string> path_of(const std::string& typed);

class OpenPrompt {
 public:
  // From the next draw() on.
  void ask() { asked_ = true; }
  bool is_open() const { return open_ || asked_; }
  // The path that was entered, once.
  std::optional<std::string> draw(const Theme& theme, const Fonts& fonts);

 private:
  std::array<char, 4096> text_{};
  std::string error_;
  bool asked_ = false;
  bool open_ = false;
};

}  // namespace lockstep::viewer
