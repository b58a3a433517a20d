#include "viewer/timeline/input.h"

#include <algorithm>
#include <cmath>

namespace lockstep::viewer {

namespace {

constexpr double kWheelFactor = 0.80;       // of the span, per notch
constexpr double kFineWheelFactor = 0.96;   // with control
constexpr double kKeyZoomPerSecond = 0.12;  // of the span is left after a second
constexpr double kKeyPanPerSecond = 0.9;    // spans
constexpr float kClickSlack = 4;            // pixels that a click may travel
constexpr float kScrollPerNotch = 60;

double position_of(const Frame& frame, float x) {
  return std::clamp((x - frame.axis.left) / frame.axis.width, 0.0, 1.0);
}

}  // namespace

int clamp_scroll(int scroll, const Frame& frame) {
  const int room = frame.layout.height - static_cast<int>(frame.regions.lanes.height());
  return std::clamp(scroll, 0, std::max(0, room));
}

int scroll_to(const Frame& frame, std::size_t rank) {
  if (!frame.layout.is_shown(rank) || frame.layout.is_fixed(rank)) return frame.state.scroll;
  const RankPlace& place = frame.layout.ranks[rank];
  const int height = static_cast<int>(frame.regions.lanes.height());
  const int highest = place.y + place.height - height;  // its end at the lower edge
  return clamp_scroll(std::min(std::max(frame.state.scroll, highest), place.y - frame.layout.fixed_height),
                      frame);
}

TimeView view_of_item(const Frame& frame, const Item& item) {
  const Row& row = frame.scene.timeline().ranks[item.rank].lanes[item.lane].rows[item.row];
  TimeRange range{row.begin[item.at], row.end[item.at]};
  if (const auto collective = frame.scene.collective_of(item)) {
    for (const analyzer::CollectiveRank& part : frame.scene.parts(*collective)) {
      range.begin = std::min(range.begin, saturating_add(frame.scene.timeline().origin, part.arrival_ns));
      range.end = std::max(range.end, saturating_add(frame.scene.timeline().origin, part.end_ns));
    }
  }
  return fit(range, 0.15);
}

std::string why_no_chain(const Scene& scene, const TimelineState& state) {
  if (scene.order_alone())
    return "No chain of waits can be drawn: the run has no times, only the order of operations.";
  if (!state.selected) {
    return "No chain of waits can be drawn: nothing is selected. Select an operation first, by a click on it "
           "or on a row of Collectives, then press L.";
  }
  if (state.chain_shown) return "";
  const WaitChain chain = chain_of(scene, *state.selected);
  if (chain.items.size() > 1 || chain.root) return "";
  return "No chain of waits leads from what is selected: nothing held it up. Select an operation that "
         "waited, then press L.";
}

void follow_chain(const Scene& scene, TimelineState& state) {
  if (!state.chain_shown || !state.selected) {
    state.chain = {};
  } else if (state.chain.items.empty() || state.chain.items.front() != *state.selected) {
    state.chain = chain_of(scene, *state.selected);
  }
}

bool TimelineControl::apply(const TimelineInput& input, const Frame& frame, const Minimap& minimap,
                            TimelineState& state) {
  bool changed = keys(input, frame, state);
  changed |= wheel(input, frame, state);
  if (input.pressed && input.pointer) {
    press(input, frame, state);
    changed = true;
  }
  // A slow frame sees the last of the way and the release together.
  if ((input.down || input.released) && gesture_ != Gesture::none) {
    TimelineInput dragged = input;
    if (input.pressed) dragged.moved = {};  // the way to the press is no part of the drag
    drag(dragged, frame, minimap, state);
    changed = true;
  }
  if (input.released && gesture_ != Gesture::none) {
    const bool clickable = gesture_ == Gesture::pan || gesture_ == Gesture::measure;
    if (travelled_ <= kClickSlack && clickable) click(input, frame, state);
    gesture_ = Gesture::none;
    changed = true;
  }
  const std::optional<Item> before = state.hovered;
  state.hovered = std::nullopt;
  if (input.pointer && (gesture_ == Gesture::none || travelled_ <= kClickSlack)) {
    state.hovered = hit_test(frame, input.pointer->x, input.pointer->y).item;
  }
  if (input.double_clicked && input.pointer) {
    const Hit hit = hit_test(frame, input.pointer->x, input.pointer->y);
    // A fold has no single item: it is opened up.
    if (hit.item)
      state.view = view_of_item(frame, *hit.item);
    else if (hit.box)
      state.view = fit({hit.box->begin, hit.box->end}, 0.1);
    state.view = clamp(state.view, state.reach);
  }
  return changed || state.hovered != before || input.double_clicked;
}

bool TimelineControl::keys(const TimelineInput& input, const Frame& frame, TimelineState& state) {
  const Timeline& timeline = frame.scene.timeline();
  const TimeRange reach = state.reach;
  bool changed = false;
  const double zoomed = std::pow(kKeyZoomPerSecond, input.zoom_in - input.zoom_out);
  if (zoomed != 1) {
    const double position = input.pointer ? position_of(frame, input.pointer->x) : 0.5;
    state.view = zoom(state.view, position, zoomed, reach);
    changed = true;
  }
  if (const double share = (input.pan_right - input.pan_left) * kKeyPanPerSecond; share != 0) {
    state.view = pan(state.view, share, reach);
    changed = true;
  }
  if (input.fit) {
    state.view = clamp(state.selected ? view_of_item(frame, *state.selected) : fit(state.whole), reach);
    changed = true;
  }
  if (input.toggle_hosts) {
    state.expansion.toggle_hosts(timeline);
    changed = true;
  }
  if (input.toggle_counters) {
    state.expansion.toggle_counters(timeline);
    changed = true;
  }
  if (input.toggle_ranks) {
    state.expansion.toggle_ranks();
    changed = true;
  }
  if (input.toggle_sections) {
    toggle_sections(frame.scene.facts(), state.order);
    changed = true;
  }
  if (input.cycle_order) {
    state.order = next_order(state.order, frame.scene.facts());
    state.scroll = 0;
    changed = true;
  }
  if (input.chain && why_no_chain(frame.scene, state).empty()) {
    state.chain_shown = !state.chain_shown;
    changed = true;
  }
  if (input.escape) {
    state.selected.reset();
    state.measured.reset();
    state.measure_from.reset();
    changed = true;
  }
  if (input.pointer && (input.pin || input.measure || input.right_clicked)) {
    point(input, frame, state);
    changed = true;
  }
  if (input.page != 0) {
    state.scroll = clamp_scroll(
        state.scroll + static_cast<int>(input.page * frame.regions.lanes.height() * 0.9F), frame);
    changed = true;
  }
  return changed;
}

// What concerns the place under the pointer.
void TimelineControl::point(const TimelineInput& input, const Frame& frame, TimelineState& state) {
  const Point at = *input.pointer;
  const Hit hit = hit_test(frame, at.x, at.y);
  if (hit.rank && (input.pin || (input.right_clicked && frame.regions.gutter.contains(at.x, at.y))))
    toggle_pin(state.order, frame.scene.timeline().ranks[*hit.rank].rank);
  if (!input.measure || at.x < frame.regions.lanes.left || at.x >= frame.regions.lanes.right) return;
  const Nanoseconds time = frame.axis.time(at.x);
  if (!state.measure_from) {
    state.measured.reset();
    state.measure_from = time;
    return;
  }
  if (*state.measure_from != time)
    state.measured = TimeRange{std::min(*state.measure_from, time), std::max(*state.measure_from, time)};
  state.measure_from.reset();
}

bool TimelineControl::wheel(const TimelineInput& input, const Frame& frame, TimelineState& state) {
  if (!input.pointer || (input.wheel == 0 && input.wheel_side == 0)) return false;
  const TimeRange reach = state.reach;
  if (input.wheel_side != 0) state.view = pan(state.view, -input.wheel_side * 0.08, reach);
  if (input.wheel == 0) return true;
  if (frame.regions.gutter.contains(input.pointer->x, input.pointer->y)) {
    state.scroll =
        clamp_scroll(state.scroll - static_cast<int>(std::lround(input.wheel * kScrollPerNotch)), frame);
  } else if (input.shift) {
    state.view = pan(state.view, -input.wheel * 0.08, reach);
  } else {
    const double factor = std::pow(input.control ? kFineWheelFactor : kWheelFactor, input.wheel);
    state.view = zoom(state.view, position_of(frame, input.pointer->x), factor, reach);
  }
  return true;
}

void TimelineControl::press(const TimelineInput& input, const Frame& frame, TimelineState& state) {
  travelled_ = 0;
  vertical_ = 0;
  const float x = input.pointer->x;
  const float y = input.pointer->y;
  if (frame.regions.minimap.contains(x, y)) {
    gesture_ = Gesture::minimap;
  } else if (x >= frame.regions.lanes.right && scroll_thumb(frame).height() > 0) {
    gesture_ = Gesture::scroll;
  } else if (input.shift && x >= frame.regions.lanes.left) {
    gesture_ = Gesture::measure;
    anchor_ = frame.axis.time(x);
    state.measured.reset();
    state.measure_from.reset();
  } else {
    gesture_ = Gesture::pan;
  }
}

void TimelineControl::drag(const TimelineInput& input, const Frame& frame, const Minimap& minimap,
                           TimelineState& state) {
  travelled_ += std::abs(input.moved.x) + std::abs(input.moved.y);
  const TimeRange reach = state.reach;
  switch (gesture_) {
    case Gesture::pan:
      if (travelled_ <= kClickSlack) return;
      state.view = pan(state.view, -input.moved.x / frame.axis.width, reach);
      vertical_ -= input.moved.y;
      state.scroll = clamp_scroll(state.scroll + static_cast<int>(vertical_), frame);
      vertical_ -= std::trunc(vertical_);
      return;
    case Gesture::measure:
      if (input.pointer && travelled_ > kClickSlack) {
        const Nanoseconds at = frame.axis.time(input.pointer->x);
        state.measured.reset();
        if (at != anchor_) state.measured = TimeRange{std::min(anchor_, at), std::max(anchor_, at)};
      }
      return;
    case Gesture::minimap:
      if (input.pointer) {
        const TimeAxis whole = minimap.axis(frame.scene, frame.regions.minimap);
        TimeView view = state.view;
        view.begin = whole.time(input.pointer->x);
        view.fraction = 0;
        state.view = pan(view, -0.5, reach);
      }
      return;
    case Gesture::scroll:
      if (input.pointer) {
        // The thumb's middle follows the pointer.
        const Rect& lanes = frame.regions.lanes;
        const float thumb = scroll_thumb(frame).height();
        const float share =
            (input.pointer->y - lanes.top - thumb / 2) / std::max(1.0F, lanes.height() - thumb);
        const float most = static_cast<float>(frame.layout.height) - lanes.height();
        state.scroll = clamp_scroll(static_cast<int>(std::clamp(share, 0.0F, 1.0F) * most), frame);
      }
      return;
    case Gesture::none:
      return;
  }
}

void TimelineControl::click(const TimelineInput& input, const Frame& frame, TimelineState& state) {
  if (!input.pointer) return;
  const Hit hit = hit_test(frame, input.pointer->x, input.pointer->y);
  if (hit.section) {
    toggle_section(state.order, frame.layout.sections[*hit.section].key);
    return;
  }
  if (frame.regions.gutter.contains(input.pointer->x, input.pointer->y)) {
    if (!hit.rank) return;
    if (input.control) {
      toggle_pin(state.order, frame.scene.timeline().ranks[*hit.rank].rank);
      return;
    }
    if (hit.row && frame.scene.timeline().ranks[*hit.rank].lanes[hit.row->lane].role == LaneRole::host) {
      state.expansion.toggle_lane(*hit.rank, hit.row->lane);
    } else if (!hit.row ||
               frame.scene.timeline().ranks[*hit.rank].lanes[hit.row->lane].role == LaneRole::causes) {
      state.expansion.toggle_rank(*hit.rank);
    }
    return;
  }
  state.selected = hit.item;
}

}  // namespace lockstep::viewer
