#include "viewer/timeline/draw_parts.h"

#include <algorithm>
#include <cmath>

namespace lockstep::viewer {

namespace {

const RowPlace* place_of(const Frame& frame, const Item& item) {
  const RankPlace& place = frame.layout.ranks[item.rank];
  for (std::uint32_t i = 0; i < place.row_count; ++i) {
    const RowPlace& row = frame.layout.rows[place.first_row + i];
    if (row.lane == item.lane && row.row == item.row) return &row;
  }
  return nullptr;
}

}  // namespace

std::optional<Rect> rect_of(const Frame& frame, const Item& item) {
  const RowPlace* const at = place_of(frame, item);
  if (at == nullptr) return std::nullopt;
  const Row& row = frame.row(item.rank, *at);
  PixelPlacer placer(frame.axis);
  const PixelSpan span = placer.place(row.begin[item.at], row.end[item.at]);
  const float top = frame.rank_top(item.rank) + static_cast<float>(at->y);
  return Rect{static_cast<float>(span.left), top, static_cast<float>(span.right),
              top + static_cast<float>(at->height)};
}

std::optional<float> middle_of(const Frame& frame, const Item& item) {
  if (!frame.layout.is_shown(item.rank)) return std::nullopt;
  const RowPlace* const at = place_of(frame, item);
  const float below =
      at != nullptr ? static_cast<float>(at->y) + static_cast<float>(at->height) / 2
                    : static_cast<float>(frame.sizes.step_strip) + static_cast<float>(frame.sizes.cause) / 2;
  // The far end of a line may lie anywhere below or above; it must not come out among the ranks that stay.
  const float y = frame.rank_top(item.rank) + below;
  const Rect own = frame.part_of(frame.regions.lanes, frame.layout.is_fixed(item.rank));
  return frame.layout.is_fixed(item.rank) ? y : std::max(y, own.top);
}

float x_of(const Frame& frame, Nanoseconds time) {
  constexpr double kFar = 20'000;
  return static_cast<float>(
      std::clamp(frame.axis.x(time), frame.axis.left - kFar, frame.axis.left + frame.axis.width + kFar));
}

void text_right(Canvas& canvas, float right, float y, std::string_view text, Color color, Font font) {
  canvas.text({std::floor(right - canvas.text_width(text, font)), y}, text, color, font);
}

float middle(const Canvas& canvas, float top, float height, Font font) {
  return std::floor(top + (height - canvas.text_height(font)) / 2);
}

bool on_screen(const TimeAxis& axis, Nanoseconds begin, Nanoseconds end) {
  const TimeRange visible = axis.visible();
  return end >= visible.begin && begin <= visible.end;
}

void outline(Canvas& canvas, const Rect& rect, Color color, float thickness) {
  canvas.frame({rect.left - 1, rect.top - 1, rect.right + 1, rect.bottom + 1}, color, thickness);
}

void patch(Canvas& canvas, const Frame& frame, float x, float y, std::string_view text, Color color) {
  const Rect& area = frame.regions.lanes;
  const float width = canvas.text_width(text, Font::small) + 8;
  const float height = canvas.text_height(Font::small) + 2;
  const float left = std::clamp(x, area.left, std::max(area.left, area.right - width));
  canvas.box({left, y, left + width, y + height}, with_alpha(frame.theme.background, 0.9));
  canvas.text({left + 4, y + 1}, text, color, Font::small);
}

void patch_beside(Canvas& canvas, const Frame& frame, float x, float away, float y, std::string_view text,
                  Color color) {
  const float width = canvas.text_width(text, Font::small) + 8;
  const bool right = x + away + width <= frame.regions.lanes.right;
  patch(canvas, frame, right ? x + away : x - away - width, y, text, color);
}

void arrow(Canvas& canvas, Point from, Point to, Color color, float thickness, float head) {
  const float x = to.x - from.x, y = to.y - from.y;
  const float length = std::sqrt(x * x + y * y);
  canvas.line(from, to, color, thickness);
  if (length < head) return;
  // Back from the tip, and half as far to both sides.
  const Point along{x / length * head, y / length * head};
  canvas.triangle(to, {to.x - along.x - along.y / 2, to.y - along.y + along.x / 2},
                  {to.x - along.x + along.y / 2, to.y - along.y - along.x / 2}, color);
}

}  // namespace lockstep::viewer
