// What is laid over the rows: the lit collective, the selection, the measured range, the pointer's instant.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/quantity.h"
#include "viewer/timeline/draw_parts.h"

namespace lockstep::viewer {

namespace {

// How far the rank's clock may be off, at both sides of an arrival; only where it can be seen.
void draw_clock_error(Canvas& canvas, const Frame& frame, std::size_t rank, Nanoseconds arrival,
                      const Rect& box) {
  const std::int64_t error = clock_error(frame.scene, rank);
  if (!is_clock_error_visible(frame, rank)) return;
  // Low in the box, whose label stands in the middle, and clear of its frame.
  const float half = std::max(2.0F, std::floor(box.height() * 0.18F));
  const float y = std::floor(box.bottom - half) - 1.5F;
  const float left = x_of(frame, saturating_add(arrival, -error));
  const float right = x_of(frame, saturating_add(arrival, error));
  const Color color = with_alpha(frame.theme.text, 0.75);
  canvas.line({left, y}, {right, y}, color, 1);
  for (const float end : {left, right}) canvas.line({end, y - half}, {end, y + half}, color, 1);
}

// Who came last, in words.
std::string verdict_of(const analyzer::CollectiveReport& collective) {
  if (collective.last_arriver)
    return fmt::format("{}: rank {}, {} after the one before",
                       collective.partial ? "last of those with a record" : "last", *collective.last_arriver,
                       analyzer::format_duration(collective.last_arriver_margin_ns.value_or(0)));
  if (collective.unfinished) return "not all came: who is in it waits";
  if (!collective.waits_known() || collective.ranks.size() < 2) return "";
  return collective.wait_ns > 0 ? "last: nobody, within clock error" : "nobody waited";
}

}  // namespace

void draw_collective(Canvas& canvas, const Frame& frame, std::uint32_t index) {
  const analyzer::CollectiveReport collective = frame.scene.collective(index);
  const Rect& area = frame.regions.lanes;
  float top = area.bottom;
  float bottom = area.top;
  Nanoseconds last_arrival = trace::kUnknownTime;
  std::optional<Rect> last_box;
  bool last_is_fixed = false;
  for (const analyzer::CollectiveRank& part : collective.ranks) {
    const auto rank = frame.scene.index_of(part.rank);
    if (!rank) continue;
    const Nanoseconds arrival = saturating_add(frame.scene.timeline().origin, part.arrival_ns);
    const bool latest = arrival > last_arrival;
    last_arrival = std::max(last_arrival, arrival);
    if (!frame.layout.is_shown(*rank)) continue;
    const bool fixed = frame.layout.is_fixed(*rank);
    const Rect own = frame.part_of(area, fixed);
    const float rank_top = frame.rank_top(*rank);
    const auto height = static_cast<float>(frame.layout.ranks[*rank].height - frame.sizes.rank_gap);
    top = std::min(top, rank_top);
    bottom = std::max(bottom, rank_top + height);
    if (rank_top > own.bottom || rank_top + height < own.top) continue;
    const auto item = frame.scene.find_activity(*rank, part.activity);
    if (!item) continue;
    const auto box = rect_of(frame, *item);
    if (!box) continue;
    if (collective.last_arriver ? collective.last_arriver == part.rank : latest) {
      last_box = box;
      last_is_fixed = fixed;
    }
    const analyzer::Activity& activity = frame.scene.data(*rank).activities[part.activity];
    if (!on_screen(frame.axis, activity.begin, activity.end)) continue;
    canvas.clip(own);
    outline(canvas, *box, frame.theme.lit, 1.5F);
    draw_clock_error(canvas, frame, *rank, arrival, *box);
    canvas.unclip();
  }
  if (last_arrival == trace::kUnknownTime || top >= bottom ||
      !on_screen(frame.axis, last_arrival, last_arrival))
    return;
  canvas.clip(area);
  const float x = static_cast<float>(std::floor(frame.axis.x(last_arrival))) + 0.5F;
  canvas.line({x, std::max(top, area.top)}, {x, std::min(bottom, area.bottom)},
              with_alpha(frame.theme.lit, 0.8), 1);
  canvas.unclip();
  const std::string verdict = verdict_of(collective);
  if (!last_box || verdict.empty()) return;
  canvas.clip(frame.part_of(area, last_is_fixed));
  const float size = static_cast<float>(frame.sizes.lane) * 0.32F;
  const Color color = collective.last_arriver ? frame.theme.warning : frame.theme.dim_text;
  if (collective.last_arriver)
    canvas.triangle({x - size, last_box->top - size * 1.6F}, {x + size, last_box->top - size * 1.6F},
                    {x, last_box->top - 1}, color);
  const float y = last_box->top - canvas.text_height(Font::small) - 4;
  patch_beside(canvas, frame, x, size + 3, y, verdict, color);
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
      canvas.clip(frame.part_of(area, frame.layout.is_fixed(marked->rank)));
      outline(canvas, *box, frame.theme.accent, marked == frame.state.selected ? 2.0F : 1.0F);
      canvas.unclip();
    }
  }
  if (frame.state.measure_from) {
    const float from = x_of(frame, *frame.state.measure_from);
    if (pointer_x)
      canvas.box(
          {std::min(from, *pointer_x), frame.regions.ruler.bottom, std::max(from, *pointer_x), area.bottom},
          with_alpha(frame.theme.accent, 0.10));
    canvas.line({from, frame.regions.ruler.top}, {from, area.bottom}, frame.theme.accent, 1);
    patch(canvas, frame, from + 4, area.top + 3, "R: the other end", frame.theme.text);
  }
  if (frame.state.measured && on_screen(frame.axis, frame.state.measured->begin, frame.state.measured->end)) {
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
                          format_count(static_cast<std::int64_t>(length)));
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
