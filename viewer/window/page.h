// What the pages without a run share: a plain ground, the sign, large text, buttons and keys.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viewer/timeline/canvas.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

// All of the window, in the theme's background; ends with the object. One at a time.
class Page {
 public:
  Page(const Theme& theme, const Fonts& fonts);
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  const Theme& theme() const { return theme_; }
  const Fonts& fonts() const { return fonts_; }
  const Rect& area() const { return area_; }
  // So many pixels at a scale of 1.
  float px(float pixels) const;
  // In the middle, as wide as it may be at most; never wider than the window leaves.
  Rect column(float widest) const;

  // One line, cut to the width; returns what it took of it.
  float text(Point at, std::string_view text, Color color, Font font, float width) const;
  void text_to_the_left_of(Point at, std::string_view text, Color color, Font font) const;
  // A title, and the height that it takes.
  float title(Point at, std::string_view text, float size, float width) const;
  // Four ranks, one of them late: `height` high, and 1.5 times as wide.
  void sign(Point at, float height) const;
  // A button that says its key as well; at the right end of the former one, where there is one in the line.
  bool button(const char* label, const char* key, bool first) const;
  // Keys and what they do, from the left, near the lower edge.
  void keys(float left, const std::vector<std::pair<const char*, const char*>>& keys) const;

 private:
  const Theme& theme_;
  const Fonts& fonts_;
  Rect area_;
};

}  // namespace lockstep::viewer
