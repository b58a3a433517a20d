// The panels around the timeline. They show what the report says and what is selected; clicks go through
// Commands.
#pragma once

#include <optional>

#include "viewer/timeline/describe.h"
#include "viewer/timeline/scene.h"
#include "viewer/window/fonts.h"

namespace lockstep::viewer {

// What a panel wants the timeline to do.
struct Command {
  std::optional<Item> show;  // select it, and bring it on screen
};

// Title of the run, legend of the causes that occur, and a banner where files are damaged or ranks missing.
void draw_header(const Scene& scene, const Theme& theme, const Fonts& fonts, float height);
float header_height(const Scene& scene, const Fonts& fonts);

Command draw_overview(const Scene& scene, const Theme& theme, const Fonts& fonts, const std::string& verdict);
Command draw_details(const Scene& scene, const TimelineState& state, const Theme& theme, const Fonts& fonts);
void draw_tooltip(const Scene& scene, const Hit& hit, const Theme& theme, const Fonts& fonts);

// Building blocks.
void draw_facts(const char* id, const std::vector<Fact>& facts, const Theme& theme);
void heading(const char* text, const Fonts& fonts, const Theme& theme);
// Text that ends at the right edge of the table's cell.
void right_aligned(const std::string& text, std::optional<Color> color = std::nullopt);
// A stacked bar of shares (0 to 1 of the width) in the current cell.
struct Share {
  double share = 0;
  Color color;
  bool hatched = false;
};
void draw_bar(const std::vector<Share>& shares, float height, const Fonts& fonts, const Theme& theme);

}  // namespace lockstep::viewer
