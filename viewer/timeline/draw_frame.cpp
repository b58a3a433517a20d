// Ruler, gutter, steps, marks: everything around the rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "viewer/timeline/draw.h"

namespace lockstep::viewer {

namespace {

void text_right(Canvas& canvas, float right, float y, std::string_view text, Color color, Font font) {
  canvas.text({std::floor(right - canvas.text_width(text, font)), y}, text, color, font);
}

float middle(const Canvas& canvas, float top, float height, Font font) {
  return std::floor(top + (height - canvas.text_height(font)) / 2);
}

// Lines where steps begin, and their numbers; of crowded steps every so many.
void draw_steps(Canvas& canvas, const Frame& frame, std::size_t rank) {
  const std::span<const StepSpan> steps = frame.scene.timeline().ranks[rank].steps;
  const TimeRange visible = frame.axis.visible();
  const float top = frame.rank_top(rank);
  const float bottom = top + static_cast<float>(frame.layout.ranks[rank].height - frame.sizes.rank_gap);
  constexpr float kApart = 6;
  float label_from = frame.regions.lanes.left;
  auto at = std::partition_point(steps.begin(), steps.end(),
                                 [&](const StepSpan& step) { return step.end < visible.begin; });
  while (at != steps.end() && at->begin <= visible.end) {
    const double x = frame.axis.x(at->begin);
    const auto line_x = static_cast<float>(std::floor(x));
    if (x >= frame.regions.lanes.left) {
      canvas.line({line_x + 0.5F, top}, {line_x + 0.5F, bottom}, with_alpha(frame.theme.dim_text, 0.7), 1);
    }
    const float left = std::max(line_x, frame.regions.lanes.left) + 4;
    const double end_x = std::min(frame.axis.x(at->end), static_cast<double>(frame.regions.lanes.right));
    const std::string text = fmt::format("step {}", at->number);
    if (left >= label_from && left + canvas.text_width(text, Font::small) < end_x) {
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
    canvas.text({x + 4, area.top + 1}, tick.label, frame.theme.dim_text, Font::small);
  }
  canvas.unclip();
}

void draw_gutter(Canvas& canvas, const Frame& frame) {
  const Rect& area = frame.regions.gutter;
  const auto padding = static_cast<float>(frame.sizes.padding);
  const float right = area.right - padding;
  canvas.clip(area);
  const auto [first, last] =
      ranks_between(frame.layout, frame.state.scroll, frame.state.scroll + static_cast<int>(area.height()));
  for (std::size_t r = first; r < last; ++r) {
    const RankTracks& tracks = frame.scene.timeline().ranks[r];
    const RankPlace& place = frame.layout.ranks[r];
    const analyzer::RankReport* report = frame.scene.rank_report(r);
    const analyzer::BlameReport* blame = frame.scene.blame(r);
    const float top = frame.rank_top(r);
    const auto strip = static_cast<float>(frame.sizes.step_strip);
    const auto cause = static_cast<float>(frame.sizes.cause);

    if (blame != nullptr && blame->blame_ns > 0) {
      const std::string text = "waited for " + analyzer::format_duration(blame->blame_ns);
      text_right(canvas, right, middle(canvas, top, strip, Font::small), text, frame.theme.warning,
                 Font::small);
    }
    // ▸ closed, ▾ open; drawn, since not every font has them.
    const float arrow_x = area.left + padding;
    const float arrow_y = top + strip + cause / 2;
    const float size = cause * 0.17F;
    if (frame.state.expansion.rank_open(r)) {
      canvas.triangle({arrow_x, arrow_y - size * 0.6F}, {arrow_x + 2 * size, arrow_y - size * 0.6F},
                      {arrow_x + size, arrow_y + size * 0.8F}, frame.theme.dim_text);
    } else {
      canvas.triangle({arrow_x, arrow_y - size}, {arrow_x, arrow_y + size}, {arrow_x + 1.4F * size, arrow_y},
                      frame.theme.dim_text);
    }
    const float name_x = arrow_x + 3.2F * size;
    canvas.text({name_x, middle(canvas, top + strip, cause, Font::bold)}, fmt::format("rank {}", tracks.rank),
                frame.theme.text, Font::bold);
    if (report != nullptr) {
      const float y = middle(canvas, top + strip, cause, Font::normal);
      const analyzer::Measures& measures = report->measures;
      const std::string waited = measures.known && measures.waits_known
                                     ? analyzer::format_duration(analyzer::wait_of(measures))
                                     : analyzer::kAbsent;
      text_right(canvas, right, y, waited, frame.theme.text, Font::normal);
      const float before = right - canvas.text_width(waited, Font::normal) - padding / 2;
      text_right(canvas, before, middle(canvas, top + strip, cause, Font::small), "waits",
                 frame.theme.dim_text, Font::small);
    }

    bool compute_shown = false;
    bool communication_shown = false;
    for (std::uint32_t i = 0; i < place.row_count; ++i) {
      const RowPlace& row = frame.layout.rows[place.first_row + i];
      const TrackLane& lane = tracks.lanes[row.lane];
      if (lane.role == LaneRole::causes || row.row > 0) continue;
      std::string figure;
      const bool known = report != nullptr && report->measures.known;
      if (known && lane.role == LaneRole::compute && !compute_shown) {
        figure = "computed " + analyzer::format_duration(report->measures.compute_ns);
        compute_shown = true;
      } else if (known && lane.role == LaneRole::communication && !communication_shown) {
        figure = "exposed " + analyzer::format_duration(report->measures.exposed_communication_ns);
        communication_shown = true;
      }
      const auto height = static_cast<float>(row.height);
      if (height < canvas.text_height(Font::small) * 0.8F) continue;
      const float y = middle(canvas, top + static_cast<float>(row.y), height, Font::small);
      const float figure_width = figure.empty() ? 0 : canvas.text_width(figure, Font::small) + padding;
      text_right(canvas, right, y, figure, frame.theme.dim_text, Font::small);
      const std::string label = fitted(canvas, lane.label, right - figure_width - name_x, Font::small);
      canvas.text({name_x, y}, label, frame.theme.dim_text, Font::small);
    }
    const float line_y = top + static_cast<float>(place.height) -
                         std::floor(static_cast<float>(frame.sizes.rank_gap) / 2) + 0.5F;
    canvas.line({area.left, line_y}, {area.right, line_y}, frame.theme.edge, 1);
  }
  canvas.unclip();
}

namespace {

// Calls `visit(rank, row)` for the rows on the screen.
template <class Visit>
void for_each_row(const Frame& frame, const Visit& visit) {
  const Rect& area = frame.regions.lanes;
  const auto [first, last] =
      ranks_between(frame.layout, frame.state.scroll, frame.state.scroll + static_cast<int>(area.height()));
  for (std::size_t r = first; r < last; ++r) {
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
  canvas.clip(area);
  for_each_row(frame, [&](std::size_t rank, const RowPlace& row) {
    const float top = frame.rank_top(rank) + static_cast<float>(row.y);
    canvas.box({area.left, top, area.right, top + static_cast<float>(row.height)}, frame.theme.stripe);
  });
  canvas.unclip();
}

void draw_ranks(Canvas& canvas, const Frame& frame) {
  const Rect& area = frame.regions.lanes;
  canvas.clip(area);
  const auto lit = lit_collective(frame.scene, frame.state);
  for_each_row(frame,
               [&](std::size_t rank, const RowPlace& row) { draw_row(canvas, frame, rank, row, lit); });
  const auto [first, last] =
      ranks_between(frame.layout, frame.state.scroll, frame.state.scroll + static_cast<int>(area.height()));
  for (std::size_t r = first; r < last; ++r) {
    draw_steps(canvas, frame, r);
    const float line_y = frame.rank_top(r) + static_cast<float>(frame.layout.ranks[r].height) -
                         std::floor(static_cast<float>(frame.sizes.rank_gap) / 2) + 0.5F;
    canvas.line({area.left, line_y}, {area.right, line_y}, frame.theme.edge, 1);
  }
  canvas.unclip();
}

void draw_timeline(Canvas& canvas, const Frame& frame, const Minimap& minimap,
                   std::optional<float> pointer_x) {
  draw_stripes(canvas, frame);
  draw_ruler(canvas, frame);
  draw_ranks(canvas, frame);
  draw_gutter(canvas, frame);
  minimap.draw(canvas, frame);
  draw_scroll_bar(canvas, frame);
  canvas.next_layer();
  if (const auto lit = lit_collective(frame.scene, frame.state)) draw_collective(canvas, frame, *lit);
  draw_marks(canvas, frame, pointer_x);
}

}  // namespace lockstep::viewer
