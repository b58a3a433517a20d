// Beside the map of the run: in which order ranks stand, and which of them are shown.
#pragma once

#include <array>

#include "viewer/timeline/rank_order.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

class OrderStrip {
 public:
  // At the top of `area`; true if `order` changed.
  bool draw(const JobFacts& facts, const Rect& area, const Theme& theme, const Fonts& fonts,
            RankOrder& order);

 private:
  bool draw_choice(const JobFacts& facts, RankOrder& order);
  bool draw_filter(const Theme& theme, RankOrder& order);

  std::array<char, 256> text_{};
  bool typing_ = false;
};

// In words: "lost time", "group dp".
std::string order_title(const RankOrder& order);
// All that make sense for the job, in the order of next_order().
std::vector<RankOrder> orders_of(const JobFacts& facts);

}  // namespace lockstep::viewer
