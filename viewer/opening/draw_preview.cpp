#include "viewer/opening/draw_preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::viewer {

namespace {

constexpr float kColumn = 2;        // pixels a column is wide
constexpr float kMaxRow = 22;       // pixels a rank is high at most
constexpr float kLabelledRow = 14;  // from which height on a rank has its number beside it

// A lane as columns of the same colour, faint to full.
void draw_lane(Canvas& canvas, const std::vector<double>& events, const Rect& row, Color color) {
  const double most = events.empty() ? 0 : *std::max_element(events.begin(), events.end());
  if (most <= 0) return;
  constexpr int kShades = 8;
  // Neighbours of one shade are one box.
  const auto shade = [&](std::size_t column) {
    return static_cast<int>(std::ceil(events[column] / most * kShades));
  };
  for (std::size_t first = 0; first < events.size();) {
    std::size_t last = first + 1;
    while (last < events.size() && shade(last) == shade(first)) ++last;
    if (shade(first) > 0) {
      canvas.box({row.left + static_cast<float>(first) * kColumn, row.top,
                  std::min(row.right, row.left + static_cast<float>(last) * kColumn), row.bottom},
                 with_alpha(color, 0.25 + 0.75 * shade(first) / kShades));
    }
    first = last;
  }
}

}  // namespace

void draw_preview(Canvas& canvas, const RunPreview& preview, const Rect& area, const Theme& theme) {
  if (preview.ranks.empty() || area.width() <= 0 || area.height() < 1) return;
  const std::size_t ranks = preview.ranks.size();
  const std::size_t rows = std::min(ranks, static_cast<std::size_t>(std::max(1.0F, area.height() / 2)));
  const float height = std::min(kMaxRow, std::floor(area.height() / static_cast<float>(rows)));
  const bool labelled = rows == ranks && height >= kLabelledRow;
  const float gutter = labelled ? canvas.text_width("rank 0000", Font::small) : 0;
  const Rect lanes{area.left + gutter, area.top, area.right, area.bottom};
  const auto columns = static_cast<std::size_t>(std::max(1.0F, lanes.width() / kColumn));
  canvas.clip(area);
  for (std::size_t row = 0; row < rows; ++row) {
    const PreviewRank& rank = preview.ranks[row * ranks / rows];
    const float top = area.top + static_cast<float>(row) * height;
    const float bottom = top + std::max(1.0F, height - (height > 4 ? 2 : 0));
    const float middle = std::floor(top + (bottom - top) * 0.6F);
    const auto computing = events_by_column(rank.computing, preview.length, columns);
    const auto communicating = events_by_column(rank.communicating, preview.length, columns);
    canvas.box({lanes.left, top, lanes.right, bottom}, theme.stripe);
    const bool split = !rank.communicating.empty() && middle > top && middle < bottom;
    draw_lane(canvas, computing, {lanes.left, top, lanes.right, split ? middle : bottom},
              cause_color(theme, analyzer::Cause::compute));
    if (split)
      draw_lane(canvas, communicating, {lanes.left, middle, lanes.right, bottom},
                cause_color(theme, analyzer::Cause::transfer));
    if (labelled)
      canvas.text({area.left, top + (bottom - top - canvas.text_height(Font::small)) / 2},
                  fmt::format("rank {}", rank.rank), theme.dim_text, Font::small);
  }
  canvas.unclip();
}

}  // namespace lockstep::viewer
