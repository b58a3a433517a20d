// The step bar: each instant of a rank's window in the colour of its cause.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "viewer/timeline/describe.h"
#include "viewer/timeline/draw.h"

namespace lockstep::viewer {

namespace {

using analyzer::Cause;
using analyzer::kCauseCount;

constexpr int kColumn = 2;  // pixels of a column where segments are narrower than pixels

// What a box is, with its length, or that alone, as far as there is room.
struct Label {
  std::string what;
  Nanoseconds length = 0;
};

void draw_box(Canvas& canvas, const Theme& theme, Color color, bool waiting, const Label& label,
              const Rect& box) {
  canvas.box(box, waiting ? with_alpha(color, 0.38) : color);
  const std::string duration = analyzer::format_duration(label.length);
  const std::string text = fmt::format("{}  {}", label.what, duration);
  constexpr float kPadding = 5;
  float labelled_to = box.left;
  for (const std::string& candidate : {text, duration}) {
    const float width = canvas.text_width(candidate, Font::small);
    // Stripes must show beside the label.
    if ((width + 2 * kPadding) * (waiting ? 1.35F : 1.0F) > box.width()) continue;
    const float y = std::floor(box.top + (box.height() - canvas.text_height(Font::small)) / 2);
    canvas.text({box.left + kPadding, y}, candidate, waiting ? theme.text : readable_on(color), Font::small);
    labelled_to = box.left + width + 2 * kPadding;
    break;
  }
  if (waiting && labelled_to < box.right) canvas.hatch({labelled_to, box.top, box.right, box.bottom}, color);
}

void draw_segment(Canvas& canvas, const Theme& theme, const analyzer::CauseSegment& segment,
                  const char* label, const Rect& box) {
  draw_box(canvas, theme, cause_color(theme, segment.cause), is_waiting(segment.cause),
           {label, segment.end - segment.begin}, box);
}

// Causes in proportion, stacked from the bottom in their order of precedence: work below, waiting above.
void draw_column(Canvas& canvas, const Theme& theme, const CauseTimes& times, const Rect& column) {
  std::uint64_t total = 0;
  for (const std::uint64_t time : times) total += time;
  if (total == 0) return;
  std::uint64_t below = 0;
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    const auto y_of = [&](std::uint64_t sum) {
      return column.bottom - static_cast<float>(std::lround(column.height() * static_cast<double>(sum) /
                                                            static_cast<double>(total)));
    };
    const float bottom = y_of(below);
    below += times[cause];
    const float top = y_of(below);
    if (top < bottom)
      canvas.box({column.left, top, column.right, bottom}, cause_color(theme, static_cast<Cause>(cause)));
  }
}

// Behind the causes of all that ended: where the rank stood when its job hung. The hang has no cause, and no
// figure counts it.
void draw_hang(Canvas& canvas, const Frame& frame, std::size_t rank, PixelPlacer& placer, const Rect& area) {
  const RankContents& contents = frame.scene.rank(rank);
  const RankStanding& standing = frame.scene.standing(rank);
  const TimeRange stood = contents.stood;
  const TimeRange visible = frame.axis.visible();
  if (stood.begin >= stood.end || standing.brief.empty() || stood.begin > visible.end ||
      stood.end < visible.begin)
    return;
  const PixelSpan span = placer.place(stood.begin, stood.end);
  if (span.left >= span.right) return;
  const Rect rect{static_cast<float>(span.left), area.top, static_cast<float>(span.right), area.bottom};
  const std::string in =
      contents.stood_in == 0 ? std::string() : analyzer::printable(frame.scene.string(contents.stood_in));
  const std::string what = standing.culprit ? standing.brief
                           : in.empty()     ? standing.brief
                                            : in + ", never ended";
  const Color color = standing.culprit ? frame.theme.warning : cause_color(frame.theme, Cause::barrier_wait);
  draw_box(canvas, frame.theme, color, !standing.culprit,
           {what, static_cast<Nanoseconds>(distance(stood.begin, stood.end))}, rect);
}

}  // namespace

void draw_cause_row(Canvas& canvas, const Frame& frame, std::size_t rank, const Row& row, const Rect& area) {
  const std::span<const analyzer::CauseSegment> segments = frame.scene.segments(rank);
  const CauseSums& sums = frame.scene.timeline().ranks[rank].cause_sums;
  std::vector<FoldedBox> boxes;
  fold(row.columns(), frame.axis.visible(), threshold(frame.axis), boxes);
  PixelPlacer placer(frame.axis);
  for (const FoldedBox& box : boxes) {
    const PixelSpan span = placer.place(box.begin, box.end);
    // One that is shorter than a pixel shares it, as those of a fold do: drawn whole it would look longer.
    const bool alone =
        !box.folded() && static_cast<double>(distance(box.begin, box.end)) >= frame.axis.ns_per_pixel();
    if (alone) {
      const Rect rect{static_cast<float>(span.left), area.top, static_cast<float>(span.right), area.bottom};
      const analyzer::CauseSegment& segment = segments[row.item[box.first]];
      draw_segment(canvas, frame.theme, segment, cause_label(frame.scene, rank, segment.cause), rect);
      continue;
    }
    const Nanoseconds begin = box.folded() ? box.begin : frame.axis.time(span.left);
    const Nanoseconds last = box.folded() ? box.end : frame.axis.time(span.right);
    CauseColumns columns(sums, begin);
    for (int left = span.left; left < span.right; left += kColumn) {
      const int right = std::min(left + kColumn, span.right);
      const Nanoseconds end = right == span.right ? last : frame.axis.time(right);
      draw_column(canvas, frame.theme, columns.up_to(end),
                  {static_cast<float>(left), area.top, static_cast<float>(right), area.bottom});
    }
  }
  draw_hang(canvas, frame, rank, placer, area);
}

}  // namespace lockstep::viewer
