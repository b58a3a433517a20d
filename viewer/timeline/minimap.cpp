#include <algorithm>
#include <cmath>

#include "viewer/timeline/draw.h"

namespace lockstep::viewer {

namespace {

// Pixels that a column is wide. Of many ranks each box would cost more than it shows.
int column_width(std::size_t rows) {
  return rows > 32 ? 4 : 2;
}

}  // namespace

TimeAxis Minimap::axis(const Scene& scene, const Rect& region) const {
  return {fit(scene.timeline().focus, 0), region.left, std::max(1.0F, region.width())};
}

void Minimap::prepare(const Scene& scene, const Rect& region, const Theme& theme,
                      std::span<const std::uint32_t> shown) {
  if (prepared_ && region == region_ && dark_ == theme.dark && std::ranges::equal(shown, shown_)) return;
  shown_.assign(shown.begin(), shown.end());
  prepared_ = true;
  region_ = region;
  dark_ = theme.dark;
  boxes_.clear();
  const auto& ranks = scene.timeline().ranks;
  if (shown.empty() || region.height() < 1) return;
  const TimeAxis whole = axis(scene, region);
  // More ranks than pixels: each pixel row shows one of those that share it.
  const auto rows = std::min<std::size_t>(shown.size(), static_cast<std::size_t>(region.height()));
  const int column = column_width(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t rank = shown[row * shown.size() / rows];
    const float top =
        region.top + std::floor(region.height() * static_cast<float>(row) / static_cast<float>(rows));
    const float next =
        region.top + std::floor(region.height() * static_cast<float>(row + 1) / static_cast<float>(rows));
    const float bottom = next - top > 3 ? next - 1 : next;
    for (auto left = static_cast<int>(region.left); left < static_cast<int>(region.right); left += column) {
      const auto right = std::min(static_cast<float>(left + column), region.right);
      const Nanoseconds begin = whole.time(left);
      const Nanoseconds end = std::max(saturating_add(begin, Nanoseconds{1}), whole.time(right));
      const CauseTimes times = ranks[rank].cause_sums.within(begin, end);
      const auto most = std::max_element(times.begin(), times.end());
      if (*most == 0) continue;
      const Color color = cause_color(theme, static_cast<analyzer::Cause>(most - times.begin()));
      if (!boxes_.empty() && boxes_.back().color == color && boxes_.back().rect.top == top &&
          boxes_.back().rect.right == static_cast<float>(left)) {
        boxes_.back().rect.right = right;
      } else {
        boxes_.push_back({{static_cast<float>(left), top, right, bottom}, color});
      }
    }
  }
}

void Minimap::draw(Canvas& canvas, const Frame& frame) const {
  canvas.box(region_, frame.theme.stripe);
  for (const Box& box : boxes_) canvas.box(box.rect, box.color);
  // What the lanes below show; the rest is veiled.
  const TimeAxis whole = axis(frame.scene, region_);
  const auto edge = [&](Nanoseconds time) {
    return static_cast<float>(
        std::clamp(whole.x(time), static_cast<double>(region_.left), static_cast<double>(region_.right)));
  };
  const TimeRange visible = frame.axis.visible();
  const float left = edge(visible.begin);
  const float right = std::max(edge(visible.end), left + 2);
  if (right - left >= region_.width() - 1) return;
  canvas.box({region_.left, region_.top, left, region_.bottom}, with_alpha(frame.theme.background, 0.6));
  canvas.box({right, region_.top, region_.right, region_.bottom}, with_alpha(frame.theme.background, 0.6));
  canvas.frame({left, region_.top, right, region_.bottom}, frame.theme.accent, 1);
}

}  // namespace lockstep::viewer
