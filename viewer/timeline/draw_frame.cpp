// Ruler, steps, and all parts of a frame in their order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viewer/timeline/draw_parts.h"

namespace lockstep::viewer {

namespace {

// Lines where steps begin, and their numbers; of crowded steps every so many.
void draw_steps(Canvas& canvas, const Frame& frame, std::size_t rank) {
  const std::span<const StepSpan> steps = frame.scene.timeline().ranks[rank].steps;
  const TimeRange visible = frame.axis.visible();
  const float top = frame.rank_top(rank);
  const float bottom = top + static_cast<float>(frame.layout.ranks[rank].height - frame.sizes.rank_gap);
  constexpr float kApart = 6;
  constexpr float kIndent = 4;  // of a label behind its line
  float label_from = frame.regions.lanes.left;
  auto at = std::partition_point(steps.begin(), steps.end(),
                                 [&](const StepSpan& step) { return step.end < visible.begin; });
  while (at != steps.end() && at->begin <= visible.end) {
    const double x = frame.axis.x(at->begin);
    const auto line_x = static_cast<float>(std::floor(x));
    if (x >= frame.regions.lanes.left) {
      canvas.line({line_x + 0.5F, top}, {line_x + 0.5F, bottom}, with_alpha(frame.theme.dim_text, 0.7), 1);
    }
    const float left = std::max(line_x, frame.regions.lanes.left) + kIndent;
    const double end_x = std::min(frame.axis.x(at->end), static_cast<double>(frame.regions.lanes.right));
    const std::string text = fmt::format("step {}", at->number);
    // A step of which little is left on the screen leaves the room to the next one.
    if (left >= label_from && left + canvas.text_width(text, Font::small) + kApart < end_x + kIndent) {
      canvas.text({left, middle(canvas, top, static_cast<float>(frame.sizes.step_strip), Font::small)}, text,
                  frame.theme.dim_text, Font::small);
      label_from = left + canvas.text_width(text, Font::small) + kApart;
    }
    // Steps within a few pixels share a line: the cost follows the pixels.
    const Nanoseconds next = saturating_add(
        at->begin, static_cast<Nanoseconds>(std::min(frame.axis.ns_per_pixel() * kApart, 9.0e18)));
    ++at;
    at = std::partition_point(at, steps.end(), [&](const StepSpan& step) { return step.begin < next; });
  }
}

}  // namespace

void draw_ruler(Canvas& canvas, const Frame& frame) {
  const Rect& area = frame.regions.ruler;
  const float label_width = canvas.text_width("+999.999 ms", Font::small);
  const Ruler ruler = make_ruler(frame.axis, frame.scene.timeline().origin, label_width * 1.2);
  if (!ruler.base.empty()) {
    text_right(canvas, area.left - static_cast<float>(frame.sizes.padding),
               middle(canvas, area.top, area.height(), Font::small), ruler.base + " +", frame.theme.dim_text,
               Font::small);
  }
  canvas.clip({area.left, area.top, area.right, frame.regions.lanes.bottom});
  for (const Tick& tick : ruler.ticks) {
    const float x = static_cast<float>(std::floor(tick.x)) + 0.5F;
    const float length = tick.labelled ? area.height() * 0.45F : area.height() * 0.2F;
    canvas.line({x, area.bottom - length}, {x, area.bottom}, frame.theme.dim_text, 1);
    if (!tick.labelled) continue;
    canvas.box({x - 0.5F, area.bottom, x + 0.5F, frame.regions.lanes.bottom}, frame.theme.grid);
    // Half of "120 ms" is another time.
    if (x + 4 + canvas.text_width(tick.label, Font::small) > area.right) continue;
    canvas.text({x + 4, area.top + 1}, tick.label, frame.theme.dim_text, Font::small);
  }
  canvas.unclip();
}

namespace {

// Calls `visit(rank, row)` for the rows on the screen, of those that stay or of those that scroll.
template <class Visit>
void for_each_row(const Frame& frame, bool fixed, const Visit& visit) {
  const Rect area = frame.part_of(frame.regions.lanes, fixed);
  for (const std::uint32_t r : frame.ranks_on_screen(fixed)) {
    const RankPlace& place = frame.layout.ranks[r];
    for (std::uint32_t i = 0; i < place.row_count; ++i) {
      const RowPlace& row = frame.layout.rows[place.first_row + i];
      const float top = frame.rank_top(r) + static_cast<float>(row.y);
      if (top < area.bottom && top + static_cast<float>(row.height) > area.top) visit(r, row);
    }
  }
}

}  // namespace

void draw_stripes(Canvas& canvas, const Frame& frame) {
  const Rect& area = frame.regions.lanes;
  for (const bool fixed : {true, false}) {
    canvas.clip(frame.part_of(area, fixed));
    for_each_row(frame, fixed, [&](std::size_t rank, const RowPlace& row) {
      const float top = frame.rank_top(rank) + static_cast<float>(row.y);
      canvas.box({area.left, top, area.right, top + static_cast<float>(row.height)}, frame.theme.stripe);
    });
    canvas.unclip();
  }
}

void draw_ranks(Canvas& canvas, const Frame& frame) {
  const Rect& area = frame.regions.lanes;
  const auto lit = lit_collective(frame.scene, frame.state);
  for (const bool fixed : {true, false}) {
    canvas.clip(frame.part_of(area, fixed));
    for_each_row(frame, fixed,
                 [&](std::size_t rank, const RowPlace& row) { draw_row(canvas, frame, rank, row, lit); });
    for (const std::uint32_t r : frame.ranks_on_screen(fixed)) {
      draw_steps(canvas, frame, r);
      const float line_y = frame.rank_top(r) + static_cast<float>(frame.layout.ranks[r].height) -
                           std::floor(static_cast<float>(frame.sizes.rank_gap) / 2) + 0.5F;
      canvas.line({area.left, line_y}, {area.right, line_y}, frame.theme.edge, 1);
    }
    canvas.unclip();
  }
}

void draw_timeline(Canvas& canvas, const Frame& frame, const Minimap& minimap,
                   std::optional<float> pointer_x) {
  if (frame.scene.order_alone()) {
    draw_standings(canvas, frame);
    draw_gutter(canvas, frame);
    draw_sections(canvas, frame);
    draw_scroll_bar(canvas, frame);
    return;
  }
  draw_stripes(canvas, frame);
  draw_ruler(canvas, frame);
  draw_ranks(canvas, frame);
  draw_gutter(canvas, frame);
  draw_sections(canvas, frame);
  minimap.draw(canvas, frame);
  draw_scroll_bar(canvas, frame);
  canvas.next_layer();
  const auto lit = lit_collective(frame.scene, frame.state);
  draw_messages(canvas, frame, lit);
  if (lit) draw_collective(canvas, frame, *lit);
  draw_chain(canvas, frame);
  draw_found(canvas, frame);
  draw_marks(canvas, frame, pointer_x);
}

}  // namespace lockstep::viewer
