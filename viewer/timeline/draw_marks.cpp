// What is laid over the rows: the lit collective, the selection, the measured range, the pointer's instant.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/quantity.h"
#include "viewer/timeline/draw.h"

namespace lockstep::viewer {

namespace {

// Where an item stands on the screen, cut to the lanes; empty where its row is not laid out.
std::optional<Rect> rect_of(const Frame& frame, const Item& item) {
  const RankPlace& place = frame.layout.ranks[item.rank];
  for (std::uint32_t i = 0; i < place.row_count; ++i) {
    const RowPlace& row_place = frame.layout.rows[place.first_row + i];
    if (row_place.lane != item.lane || row_place.row != item.row) continue;
    const Row& row = frame.row(item.rank, row_place);
    PixelPlacer placer(frame.axis);
    const PixelSpan span = placer.place(row.begin[item.at], row.end[item.at]);
    const float top = frame.rank_top(item.rank) + static_cast<float>(row_place.y);
    return Rect{static_cast<float>(span.left), top, static_cast<float>(span.right),
                top + static_cast<float>(row_place.height)};
  }
  return std::nullopt;
}

bool on_screen(const TimeAxis& axis, Nanoseconds begin, Nanoseconds end) {
  const TimeRange visible = axis.visible();
  return end >= visible.begin && begin <= visible.end;
}

void outline(Canvas& canvas, const Rect& rect, Color color, float thickness) {
  canvas.frame({rect.left - 1, rect.top - 1, rect.right + 1, rect.bottom + 1}, color, thickness);
}

// A label on a patch, kept within the lanes.
void patch(Canvas& canvas, const Frame& frame, float x, float y, std::string_view text, Color color) {
  const Rect& area = frame.regions.lanes;
  const float width = canvas.text_width(text, Font::small) + 8;
  const float height = canvas.text_height(Font::small) + 2;
  const float left = std::clamp(x, area.left, std::max(area.left, area.right - width));
  canvas.box({left, y, left + width, y + height}, with_alpha(frame.theme.background, 0.9));
  canvas.text({left + 4, y + 1}, text, color, Font::small);
}

// The same beside something at `x`: to its right, or to its left where there is no room.
void patch_beside(Canvas& canvas, const Frame& frame, float x, float away, float y, std::string_view text,
                  Color color) {
  const float width = canvas.text_width(text, Font::small) + 8;
  const bool right = x + away + width <= frame.regions.lanes.right;
  patch(canvas, frame, right ? x + away : x - away - width, y, text, color);
}

}  // namespace

void draw_collective(Canvas& canvas, const Frame& frame, std::uint32_t index) {
  const analyzer::CollectiveReport collective = frame.scene.collective(index);
  const Rect& area = frame.regions.lanes;
  canvas.clip(area);
  float top = area.bottom;
  float bottom = area.top;
  Nanoseconds last_arrival = trace::kUnknownTime;
  std::optional<Rect> last_box;
  for (const analyzer::CollectiveRank& part : collective.ranks) {
    const auto rank = frame.scene.index_of(part.rank);
    if (!rank) continue;
    const Nanoseconds arrival = saturating_add(frame.scene.timeline().origin, part.arrival_ns);
    last_arrival = std::max(last_arrival, arrival);
    const float rank_top = frame.rank_top(*rank);
    const auto height = static_cast<float>(frame.layout.ranks[*rank].height - frame.sizes.rank_gap);
    top = std::min(top, rank_top);
    bottom = std::max(bottom, rank_top + height);
    if (rank_top > area.bottom || rank_top + height < area.top) continue;
    const auto item = frame.scene.find_activity(*rank, part.activity);
    if (!item) continue;
    const auto box = rect_of(frame, *item);
    if (!box) continue;
    if (collective.last_arriver == part.rank) last_box = box;
    const analyzer::Activity& activity = frame.scene.data(*rank).activities[part.activity];
    if (on_screen(frame.axis, activity.begin, activity.end)) outline(canvas, *box, frame.theme.lit, 1.5F);
  }
  if (last_arrival != trace::kUnknownTime && top < bottom &&
      on_screen(frame.axis, last_arrival, last_arrival)) {
    const float x = static_cast<float>(std::floor(frame.axis.x(last_arrival))) + 0.5F;
    canvas.line({x, std::max(top, area.top)}, {x, std::min(bottom, area.bottom)},
                with_alpha(frame.theme.lit, 0.8), 1);
    if (last_box && collective.last_arriver) {
      const float size = static_cast<float>(frame.sizes.lane) * 0.32F;
      canvas.triangle({x - size, last_box->top - size * 1.6F}, {x + size, last_box->top - size * 1.6F},
                      {x, last_box->top - 1}, frame.theme.warning);
      const std::string text = fmt::format("last: rank {}, {} after the one before", *collective.last_arriver,
                                           analyzer::format_duration(collective.last_arriver_margin_ns));
      const float y = last_box->top - canvas.text_height(Font::small) - 4;
      patch_beside(canvas, frame, x, size + 3, y, text, frame.theme.warning);
    }
  }
  canvas.unclip();
}

Rect scroll_thumb(const Frame& frame) {
  const Rect& lanes = frame.regions.lanes;
  const auto all = static_cast<float>(frame.layout.height);
  if (all <= lanes.height() || lanes.height() <= 0) return {};
  const auto width = static_cast<float>(frame.sizes.padding) * 0.6F;
  const float height = std::max(lanes.height() * lanes.height() / all, 3 * width);
  const float share = static_cast<float>(frame.state.scroll) / (all - lanes.height());
  const float top = lanes.top + share * (lanes.height() - height);
  return {lanes.right + 1, top, lanes.right + 1 + width, top + height};
}

void draw_scroll_bar(Canvas& canvas, const Frame& frame) {
  const Rect thumb = scroll_thumb(frame);
  if (thumb.height() > 0) canvas.box(thumb, with_alpha(frame.theme.dim_text, 0.5));
}

void draw_marks(Canvas& canvas, const Frame& frame, std::optional<float> pointer_x) {
  const Rect& area = frame.regions.lanes;
  canvas.clip({area.left, frame.regions.ruler.top, area.right, area.bottom});
  for (const auto& marked : {frame.state.hovered, frame.state.selected}) {
    if (!marked) continue;
    const Row& row = frame.scene.timeline().ranks[marked->rank].lanes[marked->lane].rows[marked->row];
    if (!on_screen(frame.axis, row.begin[marked->at], row.end[marked->at])) continue;
    if (const auto box = rect_of(frame, *marked)) {
      outline(canvas, *box, frame.theme.accent, marked == frame.state.selected ? 2.0F : 1.0F);
    }
  }
  if (frame.state.measured) {
    const TimeRange range = *frame.state.measured;
    const auto edge = [&](Nanoseconds time) {
      return static_cast<float>(std::clamp(frame.axis.x(time), static_cast<double>(area.left) - 2,
                                           static_cast<double>(area.right) + 2));
    };
    const float left = edge(range.begin);
    const float right = edge(range.end);
    canvas.box({left, frame.regions.ruler.bottom, right, area.bottom}, with_alpha(frame.theme.accent, 0.10));
    canvas.line({left, frame.regions.ruler.top}, {left, area.bottom}, frame.theme.accent, 1);
    canvas.line({right, frame.regions.ruler.top}, {right, area.bottom}, frame.theme.accent, 1);
    const std::uint64_t length = distance(range.begin, range.end);
    const std::string text =
        length > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
            ? "> 292 years"
            : fmt::format("{} = {} ns", analyzer::format_duration(static_cast<std::int64_t>(length)),
                          analyzer::format_count(static_cast<std::int64_t>(length)));
    patch(canvas, frame, (left + right) / 2 - canvas.text_width(text, Font::small) / 2, area.top + 3, text,
          frame.theme.text);
  }
  for (const TimeMark& mark : frame.state.marks) {
    if (!on_screen(frame.axis, mark.time, mark.time)) continue;
    const float x = static_cast<float>(std::floor(frame.axis.x(mark.time))) + 0.5F;
    canvas.line({x, frame.regions.ruler.top}, {x, area.bottom}, with_alpha(frame.theme.warning, 0.9), 1);
    canvas.triangle({x - 5, frame.regions.ruler.top}, {x + 5, frame.regions.ruler.top},
                    {x, frame.regions.ruler.top + 8}, frame.theme.warning);
    if (!mark.note.empty())
      patch(canvas, frame, x + 6, frame.regions.ruler.top,
            fitted(canvas, mark.note, area.width() * 0.25F, Font::small), frame.theme.warning);
  }
  if (pointer_x && *pointer_x >= area.left && *pointer_x < area.right) {
    canvas.line({*pointer_x, frame.regions.ruler.top}, {*pointer_x, area.bottom},
                with_alpha(frame.theme.accent, 0.35), 1);
  }
  canvas.unclip();
}

}  // namespace lockstep::viewer
