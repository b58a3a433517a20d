// Search: by text, pattern or attributes; next and previous; a list of hits.
#pragma once

#include <array>

#include "viewer/views/search.h"
#include "viewer/window/panel_parts.h"

namespace lockstep::viewer {

class SearchPanel {
 public:
  explicit SearchPanel(const Scene& scene) : scene_(scene), search_(scene) {}
  Command draw(const Theme& theme, const Fonts& fonts);
  // The next frame's text field takes the keyboard.
  void focus() { focus_ = true; }
  void set_text(const std::string& text);
  // The hit after (+1) or before (−1) the current one, around the ends.
  Command step(int by);
  bool busy() const { return search_.busy(); }
  void wait() { search_.wait(); }  // until it is not
  const Search& search() const { return search_; }
  std::optional<std::size_t> current() const { return current_; }

 private:
  Command show(std::size_t hit);
  void draw_lane(const Item& item) const;

  const Scene& scene_;
  Search search_;
  std::array<char, 512> text_{};
  std::optional<std::size_t> current_;
  bool focus_ = false;
  bool scroll_ = false;  // the list, to the current hit
};

}  // namespace lockstep::viewer
