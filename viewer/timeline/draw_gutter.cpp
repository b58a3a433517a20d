// Left of the lanes: which rank, and what the report says of it; and the lines above hosts and groups.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "viewer/timeline/draw_parts.h"

namespace lockstep::viewer {

namespace {

// ▸ closed, ▾ open; drawn, since not every font has them. `y`: its middle.
void draw_opener(Canvas& canvas, float x, float y, float size, bool open, Color color) {
  if (open) {
    canvas.triangle({x, y - size * 0.6F}, {x + 2 * size, y - size * 0.6F}, {x + size, y + size * 0.8F},
                    color);
  } else {
    canvas.triangle({x, y - size}, {x, y + size}, {x + 1.4F * size, y}, color);
  }
}

// A pin, of a rank that stays.
void draw_pin(Canvas& canvas, float x, float y, float size, Color color) {
  canvas.box({x, y - size, x + 2 * size, y}, color);
  canvas.triangle({x, y}, {x + 2 * size, y}, {x + size, y + 1.4F * size}, color);
}

struct GutterPainter {
  Canvas& canvas;
  const Frame& frame;
  std::uint32_t rank;
  float top = frame.rank_top(rank);
  float padding = static_cast<float>(frame.sizes.padding);
  float left = frame.regions.gutter.left + padding;
  float right = frame.regions.gutter.right - padding;
  float strip = static_cast<float>(frame.sizes.step_strip);
  float cause = static_cast<float>(frame.sizes.cause);
  float mark = std::min(cause, 2 * strip) * 0.17F;  // half the width of a small symbol
  float name_x = left + 3.2F * mark;
  const analyzer::RankReport* report = frame.scene.rank_report(rank);

  void paint() const {
    draw_strip();
    draw_name();
    draw_lanes();
    const RankPlace& place = frame.layout.ranks[rank];
    const float line_y = top + static_cast<float>(place.height) -
                         std::floor(static_cast<float>(frame.sizes.rank_gap) / 2) + 0.5F;
    canvas.line({frame.regions.gutter.left, line_y}, {frame.regions.gutter.right, line_y}, frame.theme.edge,
                1);
  }

  // Above the name: how long others waited for it, or that it never came; that its trace is damaged, or how
  // far its clock may be off.
  void draw_strip() const {
    const std::int64_t lost = frame.scene.facts().ranks[rank].lost_ns;
    const RankStanding& standing = frame.scene.standing(rank);
    const float y = middle(canvas, top, strip, Font::small);
    float free_to = right;
    float bar_from = right;
    if (standing.culprit) {
      text_right(canvas, right, y, standing.brief, frame.theme.warning, Font::small);
      bar_from = draw_bar(1, frame.theme.warning);  // for as long as the job stood
      free_to -= canvas.text_width(standing.brief, Font::small) + padding;
    } else if (lost > 0) {
      const std::string time = analyzer::format_duration(lost);
      const std::string whole = waited_for() + time;
      const std::string& text = canvas.text_width(whole, Font::small) <= right - left ? whole : time;
      text_right(canvas, right, y, text, lost_color(), Font::small);
      bar_from = draw_lost(lost);
      free_to -= canvas.text_width(text, Font::small) + padding;
    }
    const bool damaged = report != nullptr && report->damaged;
    const std::string note = damaged ? "trace damaged" : clock_text();
    const float note_end = name_x + canvas.text_width(note, Font::small);
    if (note.empty() || note_end > free_to) return;
    const Color color = note_end > bar_from ? frame.theme.text
                        : damaged           ? frame.theme.warning
                                            : frame.theme.dim_text;
    canvas.text({name_x, y}, note, color, Font::small);
  }

  // Somebody always is waited for longest: the colour of blame is for whom a finding accuses.
  Color lost_color() const {
    return frame.scene.facts().ranks[rank].is_marked ? frame.theme.warning : frame.theme.dim_text;
  }

  // Of a pipeline the figure is what its schedule does not make.
  std::string waited_for() const {
    return frame.scene.facts().scheduled ? "beyond schedule " : "waited for ";
  }

  // Left of that figure, as long as others waited for it: among ranks, the longest bar is whom they wait for.
  float draw_lost(std::int64_t lost_ns) const {
    const std::int64_t most = frame.scene.facts().lost_scale_ns;
    if (most <= 0) return right;
    return draw_bar(static_cast<float>(static_cast<double>(lost_ns) / static_cast<double>(most)),
                    lost_color());
  }

  // All bars end where the longest figure begins. Where it begins itself.
  float draw_bar(float share, Color color) const {
    const float end = right - canvas.text_width(waited_for() + "99.9 ms", Font::small) - padding;
    const float length = (end - left) * share;
    if (length < 1) return right;
    const float air = std::floor(strip / 4);
    const float begin = std::floor(end - length);
    canvas.box({begin, top + air, end, top + strip - air}, with_alpha(color, 0.6));
    return begin;
  }

  std::string clock_text() const {
    if (frame.scene.order_alone()) return "";
    if (!frame.scene.rank(rank).clock.related) return "own clock";
    return is_clock_error_visible(frame, rank)
               ? "±" + analyzer::format_duration(clock_error(frame.scene, rank))
               : "";
  }

  void draw_name() const {
    const float y = top + strip + cause / 2;
    draw_opener(canvas, left, y, mark, frame.state.expansion.rank_open(rank), frame.theme.dim_text);
    const std::string name = fmt::format("rank {}", frame.scene.timeline().ranks[rank].rank);
    canvas.text({name_x, middle(canvas, top + strip, cause, Font::bold)}, name, frame.theme.text, Font::bold);
    const std::vector<std::int32_t>& pinned = frame.state.order.pinned;
    if (std::find(pinned.begin(), pinned.end(), frame.scene.timeline().ranks[rank].rank) != pinned.end())
      draw_pin(canvas, name_x + canvas.text_width(name, Font::bold) + 1.5F * mark, y, mark,
               frame.theme.dim_text);
    if (report == nullptr || frame.scene.order_alone()) return;
    const analyzer::Measures& measures = report->measures;
    const std::string waited = measures.known && measures.waits_known
                                   ? analyzer::format_duration(analyzer::wait_of(measures))
                                   : analyzer::kAbsent;
    // The figure where it fits beside the name, with its word where that does too.
    const float free_from = name_x + canvas.text_width(name, Font::bold) + padding;
    const float before = right - canvas.text_width(waited, Font::normal) - padding / 2;
    if (before < free_from) return;
    text_right(canvas, right, middle(canvas, top + strip, cause, Font::normal), waited, frame.theme.text,
               Font::normal);
    if (before - canvas.text_width("waits", Font::small) < free_from) return;
    text_right(canvas, before, middle(canvas, top + strip, cause, Font::small), "waits", frame.theme.dim_text,
               Font::small);
  }

  void draw_lanes() const {
    const RankPlace& place = frame.layout.ranks[rank];
    const bool known = report != nullptr && report->measures.known;
    bool compute_shown = false;
    bool communication_shown = false;
    for (std::uint32_t i = 0; i < place.row_count; ++i) {
      const RowPlace& row = frame.layout.rows[place.first_row + i];
      const TrackLane& lane = frame.scene.timeline().ranks[rank].lanes[row.lane];
      if (lane.role == LaneRole::causes || row.row > 0) continue;
      std::string figure;
      if (known && lane.role == LaneRole::compute && !compute_shown) {
        figure = "computed " + analyzer::format_duration(report->measures.compute_ns);
        compute_shown = true;
      } else if (known && lane.role == LaneRole::communication && !communication_shown) {
        figure = "exposed " + analyzer::format_duration(report->measures.exposed_communication_ns);
        communication_shown = true;
      } else if (lane.role == LaneRole::counter) {
        figure = "to " + format_value(lane.counter.scale.high, lane.counter.unit);
      }
      const auto height = static_cast<float>(row.height);
      if (height < canvas.text_height(Font::small) * 0.8F) continue;
      const float y = middle(canvas, top + static_cast<float>(row.y), height, Font::small);
      // A lane's name comes first.
      if (canvas.text_width(figure, Font::small) > (right - name_x) * 0.7F) figure.clear();
      const float figure_width = figure.empty() ? 0 : canvas.text_width(figure, Font::small) + padding;
      text_right(canvas, right, y, figure, frame.theme.dim_text, Font::small);
      const std::string label = fitted(canvas, lane.label, right - figure_width - name_x, Font::small);
      canvas.text({name_x, y}, label, frame.theme.dim_text, Font::small);
    }
  }
};

}  // namespace

std::int64_t clock_error(const Scene& scene, std::size_t rank) {
  const RankContents& contents = scene.rank(rank);
  return contents.clock.uncertainty_ns + (contents.resolution_ns > 1 ? contents.resolution_ns : 0);
}

bool is_clock_error_visible(const Frame& frame, std::size_t rank) {
  constexpr double kSeen = 2;  // pixels
  return frame.scene.rank(rank).clock.related &&
         static_cast<double>(clock_error(frame.scene, rank)) >= kSeen * frame.axis.ns_per_pixel();
}

void draw_gutter(Canvas& canvas, const Frame& frame) {
  for (const bool fixed : {true, false}) {
    canvas.clip(frame.part_of(frame.regions.gutter, fixed));
    for (const std::uint32_t rank : frame.ranks_on_screen(fixed)) GutterPainter{canvas, frame, rank}.paint();
    canvas.unclip();
  }
  if (frame.layout.fixed == 0) return;
  // Below the ranks that stay.
  const float y = frame.part_of(frame.regions.lanes, true).bottom -
                  std::floor(static_cast<float>(frame.sizes.rank_gap) / 2) + 0.5F;
  canvas.line({frame.regions.gutter.left, y}, {frame.regions.lanes.right, y}, frame.theme.dim_text, 2);
}

void draw_sections(Canvas& canvas, const Frame& frame) {
  const Rect gutter = frame.part_of(frame.regions.gutter, false);
  const Rect lanes = frame.part_of(frame.regions.lanes, false);
  const auto padding = static_cast<float>(frame.sizes.padding);
  const Rect both{gutter.left, gutter.top, lanes.right, gutter.bottom};
  canvas.clip(both);
  for (const SectionPlace& section : frame.layout.sections) {
    const float top = frame.regions.lanes.top + static_cast<float>(section.y - frame.state.scroll);
    const auto height = static_cast<float>(section.height);
    if (top >= both.bottom || top + height <= both.top) continue;
    canvas.box({both.left, top, both.right, top + height - 2}, frame.theme.edge);
    const float size = height * 0.17F;
    const float left = gutter.left + padding;
    draw_opener(canvas, left, top + height / 2 - 1, size, section.open, frame.theme.text);
    const float text_x = left + 3.2F * size;
    canvas.text({text_x, middle(canvas, top, height - 2, Font::bold)},
                fitted(canvas, section.title, gutter.right - padding - text_x, Font::bold), frame.theme.text,
                Font::bold);
    canvas.text({lanes.left + 4, middle(canvas, top, height - 2, Font::small)},
                fitted(canvas, section.summary, lanes.width() - 8, Font::small), frame.theme.text,
                Font::small);
  }
  canvas.unclip();
  if (!frame.layout.shown.empty() || !frame.layout.sections.empty() || frame.state.order.filter.empty())
    return;
  const std::string text = "No rank is shown: none is " + frame.state.order.filter;
  canvas.text({lanes.left + padding, lanes.top + padding},
              fitted(canvas, text, lanes.width() - padding, Font::normal), frame.theme.dim_text,
              Font::normal);
}

}  // namespace lockstep::viewer
