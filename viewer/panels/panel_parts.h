// What panels are built of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/timeline/describe.h"
#include "viewer/timeline/scene.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

void draw_facts(const char* id, const std::vector<Fact>& facts, const Theme& theme);
void heading(const char* text, const Fonts& fonts, const Theme& theme);
// Text that ends at the right edge of the table's cell.
void right_aligned(const std::string& text, std::optional<Color> color = std::nullopt);
// A column's title, with what it counts beside the pointer.
void column_title(const char* title, const char* what, const Theme& theme);
// A stacked bar of shares (0 to 1 of the width) in the current cell.
struct Share {
  double share = 0;
  Color color;
  bool hatched = false;
};
// Of a bar that is `scale` ns long.
std::vector<Share> shares_of(const analyzer::Partition& partition, std::int64_t scale, const Theme& theme);
void draw_bar(const std::vector<Share>& shares, float height, const Fonts& fonts, const Theme& theme);

}  // namespace lockstep::viewer
