// Search: by text, pattern or attributes; next and previous; a list of hits.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "viewer/panels/panel.h"
#include "viewer/views/search.h"

namespace lockstep::viewer {

class SearchPanel final : public PanelState {
 public:
  explicit SearchPanel(const Scene& scene) : scene_(scene), search_(scene) {}
  Command draw(const Theme& theme, const Fonts& fonts);
  // The next frame's text field does.
  void take_keyboard() override { focus_ = true; }
  void set_text(const std::string& text);
  // The hit after (+1) or before (−1) the current one, around the ends.
  Command step(int by);
  bool busy() const override { return search_.busy(); }
  void wait() override { search_.wait(); }
  void keep_in(Session& session) const override { session.search = search_.text(); }
  void restore_from(const Session& session) override;
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
