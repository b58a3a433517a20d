// Where a search's hits are. A run may have a hundred thousand of them: one bar a pixel of each row, one tick
// a pixel of the ruler.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "viewer/timeline/draw_parts.h"

namespace lockstep::viewer {

namespace {

constexpr float kBar = 3;   // pixels, above a box
constexpr float kTick = 6;  // at the ruler's foot

// One bar a pixel of each row of those ranks on the screen that stay, or that scroll.
void draw_bars(Canvas& canvas, const Frame& frame, bool fixed) {
  const std::span<const std::uint32_t> ranks = frame.ranks_on_screen(fixed);
  if (ranks.empty()) return;
  std::vector<bool> shown(frame.scene.timeline().ranks.size(), false);
  for (const std::uint32_t rank : ranks) shown[rank] = true;
  const TimeRange visible = frame.axis.visible();
  const Rect area = frame.part_of(frame.regions.lanes, fixed);
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, float> drawn_to;  // by row
  canvas.clip(area);
  for (const SearchHit& hit : frame.state.found) {
    if (!shown[hit.item.rank] || !on_screen(frame.axis, hit.begin, hit.end)) continue;
    float& edge =
        drawn_to.try_emplace({hit.item.rank, hit.item.lane, hit.item.row}, area.left - 1).first->second;
    const double left = std::floor(frame.axis.x(std::max(hit.begin, visible.begin)));
    const double right = std::floor(frame.axis.x(std::min(hit.end, visible.end)));
    if (std::max(right, left + 1) <= static_cast<double>(edge)) continue;
    const std::optional<Rect> box = rect_of(frame, hit.item);
    if (!box || box->right <= edge) continue;
    edge = std::max(box->right, box->left + 1);
    canvas.box({box->left, box->top - kBar + 1, edge, box->top + 1}, frame.theme.found);
  }
  canvas.unclip();
}

}  // namespace

void draw_found(Canvas& canvas, const Frame& frame) {
  if (frame.state.found.empty()) return;
  for (const bool fixed : {true, false}) draw_bars(canvas, frame, fixed);
  const Rect& area = frame.regions.lanes;
  const TimeRange visible = frame.axis.visible();
  std::vector<bool> ticks(static_cast<std::size_t>(std::max(0.0F, std::ceil(area.width()))), false);
  for (const SearchHit& hit : frame.state.found) {
    if (!on_screen(frame.axis, hit.begin, hit.end)) continue;
    const double left = frame.axis.x(std::max(hit.begin, visible.begin)) - static_cast<double>(area.left);
    const auto column = static_cast<std::size_t>(std::max(0.0, left));
    if (column < ticks.size()) ticks[column] = true;
  }
  const float foot = frame.regions.ruler.bottom;
  for (std::size_t column = 0; column < ticks.size(); ++column) {
    if (!ticks[column]) continue;
    const float x = area.left + static_cast<float>(column);
    canvas.box({x, foot - kTick, x + 1, foot}, frame.theme.found);
  }
}

}  // namespace lockstep::viewer
