// Rows of activities and host ranges.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/model/is_communication.h"
#include "analyzer/report/quantity.h"
#include "viewer/timeline/draw.h"
#include "viewer/timeline/prevailing_class.h"
#include "viewer/timeline/short_name.h"

namespace lockstep::viewer {

namespace {

using analyzer::Class;

constexpr float kLabelPadding = 4;
constexpr float kStripedShare =
    1.35F;                    // a waiting part is labelled if this times the label fits: stripes must show
constexpr float kNarrow = 6;  // pixels: less than that has no room for two parts side by side
constexpr float kSmallestLabel = 22;  // pixels in which a label is worth the attempt

void label(Canvas& canvas, const Rect& box, std::string_view text, Color color, Font font) {
  if (box.width() < kSmallestLabel) return;
  const std::string shown = fitted(canvas, text, box.width() - 2 * kLabelPadding, font);
  // Less than three letters of a name say nothing.
  if (shown.empty() || (shown.size() < 3 + std::string_view("…").size() && shown != text)) return;
  const float y = std::floor(box.top + (box.height() - canvas.text_height(font)) / 2);
  canvas.text({box.left + kLabelPadding, y}, shown, color, font);
}

// One pixel between boxes that touch, where there is room for it.
Rect box_of(const PixelSpan& span, const Rect& area) {
  const float right = static_cast<float>(span.right) - (span.width() > 3 ? 1.0F : 0.0F);
  return {static_cast<float>(span.left), area.top, right, area.bottom};
}

struct RowPainter {
  Canvas& canvas;
  const Frame& frame;
  std::size_t rank;
  const TrackLane& lane;
  const Row& row;
  Rect area;
  std::optional<std::uint32_t> lit;

  // An operation's waiting part and its transfer apart.
  void collective(const FoldedBox& box, const PixelSpan& span, bool dimmed) const {
    const std::uint64_t before = box.first == 0 ? 0 : row.wait[box.first - 1];
    const std::uint64_t wait = row.wait[box.first] - before;
    const Rect whole = box_of(span, area);
    const auto middle = static_cast<float>(
        std::clamp(std::floor(frame.axis.x(saturating_add(box.begin, static_cast<Nanoseconds>(wait))) + 0.5),
                   static_cast<double>(span.left), static_cast<double>(span.right)));
    const double strength = dimmed ? 0.35 : 1.0;
    // In a few pixels a border between the parts would round one of them away.
    if (wait > 0 && whole.width() < kNarrow) {
      const std::uint64_t length = distance(box.begin, box.end);
      stacked(whole, length == 0 ? 0 : static_cast<double>(wait) / static_cast<double>(length),
              with_alpha(cause_color(frame.theme, analyzer::Cause::barrier_wait), strength),
              with_alpha(cause_color(frame.theme, analyzer::Cause::transfer), strength));
      return;
    }
    const Color moving = cause_color(frame.theme, analyzer::Cause::transfer);
    const Color waiting = cause_color(frame.theme, analyzer::Cause::barrier_wait);
    const Rect wait_box{whole.left, area.top, std::min(middle, whole.right), area.bottom};
    const Rect move_box{std::max(whole.left, middle), area.top, whole.right, area.bottom};
    if (wait > 0 && wait_box.width() > 0) {
      canvas.box(wait_box, with_alpha(waiting, 0.22 * strength));
      // No stripes behind the label: text over stripes cannot be read.
      const std::string text = "wait " + analyzer::format_duration(static_cast<std::int64_t>(wait));
      const float width = canvas.text_width(text, Font::small) + 2 * kLabelPadding;
      const bool labelled = wait_box.width() >= width * kStripedShare;
      if (labelled)
        label(canvas, wait_box, text, dimmed ? frame.theme.dim_text : frame.theme.text, Font::small);
      const Rect striped{labelled ? wait_box.left + width : wait_box.left, wait_box.top, wait_box.right,
                         wait_box.bottom};
      if (striped.width() > 0) canvas.hatch(striped, with_alpha(waiting, 0.75 * strength));
    }
    if (move_box.width() > 0) {
      canvas.box(move_box, with_alpha(moving, strength));
      label(canvas, move_box, short_name(text_of(box.first)), readable_on(moving), Font::small);
    }
  }

  void folded(const FoldedBox& box, const PixelSpan& span) const {
    const double strength = 0.25 + 0.65 * density(row.columns(), box);
    const auto filled = [&](Color color) { return mix(frame.theme.stripe, color, strength); };
    const Rect rect = {static_cast<float>(span.left), area.top, static_cast<float>(span.right), area.bottom};
    if (lane.role == LaneRole::host) {
      canvas.box(rect, filled(frame.theme.host));
      return;
    }
    if (lane.role != LaneRole::communication) {
      // Piece by piece, since a fold may reach over the whole screen.
      pieces(box, span, [&](int left, int right, Class most) {
        canvas.box({static_cast<float>(left), area.top, static_cast<float>(right), area.bottom},
                   filled(activity_color(frame.theme, most, {})));
      });
      return;
    }
    // The share of waiting stands above the share of moving.
    const std::size_t last = box.first + box.count - 1;
    const std::uint64_t wait = row.wait[last] - (box.first == 0 ? 0 : row.wait[box.first - 1]);
    const std::uint64_t busy = row.busy[last] - (box.first == 0 ? 0 : row.busy[box.first - 1]);
    const double waiting = busy == 0 ? 0 : static_cast<double>(wait) / static_cast<double>(busy);
    const Color wait_color = cause_color(frame.theme, analyzer::Cause::barrier_wait);
    stacked(rect, waiting, filled(wait_color), filled(cause_color(frame.theme, analyzer::Cause::transfer)));
  }

  // `share` of the height for one colour, the rest below it for the other.
  void stacked(const Rect& rect, double share, Color above, Color below) const {
    const float border = rect.top + static_cast<float>(std::lround(rect.height() * share));
    if (border > rect.top) canvas.box({rect.left, rect.top, rect.right, border}, above);
    if (border < rect.bottom) canvas.box({rect.left, border, rect.right, rect.bottom}, below);
  }

  std::string text_of(std::uint32_t at) const {
    return item_label(frame.scene,
                      {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(&lane - lanes().data()),
                       static_cast<std::uint32_t>(&row - lane.rows.data()), at});
  }
  const std::vector<TrackLane>& lanes() const { return frame.scene.timeline().ranks[rank].lanes; }

  Color color_of(std::uint32_t at) const {
    const RankData& data = frame.scene.data(rank);
    if (lane.role == LaneRole::host) {
      const analyzer::HostRange& range = data.host_ranges[row.item[at]];
      return host_color(frame.theme, range.kind, frame.scene.string(range.name));
    }
    const analyzer::Activity& activity = data.activities[row.item[at]];
    return activity_color(frame.theme, activity.activity_class, frame.scene.string(activity.name));
  }

  // Calls `draw(left, right, class)` with what takes most of the time there; neighbours of a class in one.
  template <class Draw>
  void pieces(const FoldedBox& box, const PixelSpan& span, const Draw& draw) const {
    constexpr int kPiece = 48;  // pixels
    constexpr int kSamples = 12;
    const std::span<const analyzer::Activity> activities = frame.scene.data(rank).activities;
    PrevailingClass prevailing(row, activities, box);
    Class most = activities[row.item[box.first]].activity_class;
    int from = span.left;
    for (int left = span.left; left < span.right; left += kPiece) {
      const Nanoseconds begin = std::max(box.begin, frame.axis.time(left));
      const Nanoseconds end = std::min(box.end, frame.axis.time(std::min(left + kPiece, span.right)));
      const Class here = prevailing.within(begin, std::max(begin, end), kSamples).value_or(most);
      if (here != most && left > from) {
        draw(from, left, most);
        from = left;
      }
      most = here;
    }
    draw(from, span.right, most);
  }

  // What the host waited for is an outline: the device is free.
  bool is_sync(std::uint32_t at) const {
    return lane.role != LaneRole::host &&
           frame.scene.data(rank).activities[row.item[at]].activity_class == Class::sync;
  }

  bool is_collective(std::uint32_t at) const {
    if (lane.role == LaneRole::host) return false;
    return analyzer::is_communication(frame.scene.data(rank).activities[row.item[at]].activity_class);
  }

  void paint() const {
    std::vector<FoldedBox> boxes;
    fold(row.columns(), frame.axis.visible(), threshold(frame.axis), boxes);
    PixelPlacer placer(frame.axis);
    for (const FoldedBox& box : boxes) {
      const PixelSpan span = placer.place(box.begin, box.end);
      if (box.folded()) {
        folded(box, span);
      } else if (is_collective(box.first)) {
        const auto own = analyzer::kNone;
        const std::uint32_t operation =
            lit ? frame.scene.collective_of(static_cast<std::uint32_t>(rank), row.item[box.first])
                      .value_or(own)
                : own;
        collective(box, span, lit && operation != *lit);
      } else {
        const Color color = color_of(box.first);
        const Rect rect = box_of(span, area);
        const bool sync = is_sync(box.first);
        canvas.box(rect, color);
        if (sync && rect.width() > kNarrow)
          canvas.frame(rect, mix(frame.theme.stripe, frame.theme.dim_text, 0.45), 1);
        if (area.height() >= canvas.text_height(Font::small) && rect.width() >= kSmallestLabel) {
          const std::string name = text_of(box.first);
          label(canvas, rect, lane.role == LaneRole::host ? name : short_name(name),
                sync ? frame.theme.dim_text : readable_on(color), Font::small);
        }
      }
    }
  }
};

}  // namespace

std::string item_label(const Scene& scene, const Item& item) {
  const TrackLane& lane = scene.timeline().ranks[item.rank].lanes[item.lane];
  const std::uint32_t index = lane.rows[item.row].item[item.at];
  const RankData& data = scene.data(item.rank);
  switch (lane.role) {
    case LaneRole::causes:
      return item_kind(scene, item);
    case LaneRole::host:
      return std::string(scene.string(data.host_ranges[index].name));
    case LaneRole::compute:
    case LaneRole::communication:
    case LaneRole::counter:
      break;
  }
  const analyzer::Activity& activity = data.activities[index];
  std::string name(scene.string(activity.name));
  if (activity.communication >= data.communications.size()) return name;
  const analyzer::Communication& communication = data.communications[activity.communication];
  if (communication.operation == analyzer::Operation::unknown) return name;
  std::string label = trace::to_string(communication.operation);
  if (communication.sequence != analyzer::kNoSequence) label += fmt::format(" #{}", communication.sequence);
  return label;
}

void draw_row(Canvas& canvas, const Frame& frame, std::size_t rank, const RowPlace& place,
              std::optional<std::uint32_t> lit) {
  const TrackLane& lane = frame.scene.timeline().ranks[rank].lanes[place.lane];
  const float top = frame.rank_top(rank) + static_cast<float>(place.y);
  const Rect area{frame.regions.lanes.left, top, frame.regions.lanes.right,
                  top + static_cast<float>(place.height)};
  if (lane.role == LaneRole::counter) return draw_counter_row(canvas, frame, lane.counter, area);
  if (place.row >= lane.rows.size()) return;
  if (lane.role == LaneRole::causes) {
    draw_cause_row(canvas, frame, rank, lane.rows[place.row], area);
  } else {
    RowPainter{canvas, frame, rank, lane, lane.rows[place.row], area, lit}.paint();
  }
}

}  // namespace lockstep::viewer
