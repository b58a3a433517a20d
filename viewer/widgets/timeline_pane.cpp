#include "viewer/widgets/timeline_pane.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "viewer/timeline/bytes_drawn.h"
#include "viewer/widgets/imgui_canvas.h"
#include "viewer/widgets/tooltip.h"

namespace lockstep::viewer {

namespace {

// Frames after which a docked window has its size.
constexpr int kSettled = 4;

}  // namespace

TimelinePane::TimelinePane(const Scene& scene, std::string window, float scale)
    : scene_(scene),
      window_(std::move(window)),
      scale_(scale),
      sizes_(scaled(Sizes{}, scale)),
      state_(scene.timeline()),
      read_ahead_(scene) {}

void TimelinePane::execute(const Command& command) {
  if (!command.any()) return;
  commands_.push_back(command);
  wants_front_ = hidden_;
  busy_ = true;
}

bool TimelinePane::show_at_most(LanesShown most) {
  // What the user has opened or closed since then stays.
  if (frames_ > kSettled || most == most_shown_) return false;
  most_shown_ = most;
  shown_anew_ = true;
  return true;
}

void TimelinePane::select_collective(std::uint32_t collective) {
  bool found = false;
  for (const analyzer::CollectiveRank& part : scene_.parts(collective)) {
    const auto rank = scene_.index_of(part.rank);
    const auto item = rank ? scene_.find_activity(*rank, part.activity) : std::nullopt;
    if (!item) continue;
    // On a rank that is shown, if there is any.
    const bool shown =
        std::find(sequence_.ranks.begin(), sequence_.ranks.end(), *rank) != sequence_.ranks.end();
    if (!found || shown) state_.selected = item;
    found = true;
    if (shown) return;
  }
}

// What is deep in a folded thread, or on a closed rank, would be selected and not be seen.
void TimelinePane::open_lane_of(const Item& item) {
  unfold(item);
  const TrackLane& lane = scene_.timeline().ranks[item.rank].lanes[item.lane];
  if (lane.role != LaneRole::causes && !state_.expansion.rank_open(item.rank))
    state_.expansion.toggle_rank(item.rank);
}

void TimelinePane::unfold(const Item& item) {
  const TrackLane& lane = scene_.timeline().ranks[item.rank].lanes[item.lane];
  if (lane.role == LaneRole::host && !state_.expansion.lane_open(item.rank, item.lane))
    state_.expansion.toggle_lane(item.rank, item.lane);
}

void TimelinePane::select_by_commands() {
  for (const Command& command : commands_) {
    if (command.drop_selection) state_.selected.reset();
    if (command.show) open_lane_of(*command.show);
    if (command.collective) select_collective(*command.collective);
    if (command.show) state_.selected = command.show;
    const bool selects = command.collective || command.show;
    if (selects && state_.selected) make_shown(scene_.facts(), state_.selected->rank, state_.order);
    if (command.rank) make_shown(scene_.facts(), *command.rank, state_.order);
  }
}

void TimelinePane::apply_commands(const Frame& frame) {
  for (const Command& command : commands_) {
    if (command.range) {
      state_.view = clamp(fit(*command.range), state_.reach);
    } else if ((command.show || command.collective) && state_.selected) {
      state_.view = clamp(view_of_item(frame, *state_.selected), state_.reach);
      state_.scroll = scroll_to(frame, state_.selected->rank);
    }
    if (command.rank) state_.scroll = scroll_to(frame, *command.rank);
  }
  commands_.clear();
}

void TimelinePane::follow_order() {
  if (sequenced_ == state_.order) return;
  sequenced_ = state_.order;
  sequence_ = order_ranks(scene_.facts(), state_.order);
  // Fewer ranks have more room.
  if (area_.height() > 0)
    sizes_ = choose_sizes(scene_.timeline(), state_.expansion, scale_, area_, sequence_);
  busy_ = true;
}

void TimelinePane::reveal(const Item& item) {
  const Row& row = scene_.timeline().ranks[item.rank].lanes[item.lane].rows[item.row];
  const TimeRange visible{state_.view.begin, saturating_add(state_.view.begin, state_.view.span)};
  state_.selected = item;
  busy_ = true;
  open_lane_of(item);
  Command command{.rank = item.rank};
  // What is on screen stays where it is: eyes should not have to search.
  if (row.begin[item.at] < visible.begin || row.end[item.at] > visible.end) {
    const auto half = static_cast<Nanoseconds>(std::min(state_.view.span / 2, 1e18));
    command.range =
        TimeRange{saturating_add(row.begin[item.at], -half), saturating_add(row.begin[item.at], half)};
  }
  execute(command);
}

void TimelinePane::toggle_mark_at_pointer() {
  if (!pointer_time_ || scene_.order_alone()) return;
  busy_ = true;
  const Nanoseconds time = *pointer_time_;
  const auto near = std::find_if(state_.marks.begin(), state_.marks.end(), [&](const TimeMark& mark) {
    return (mark.time < time ? distance(mark.time, time) : distance(time, mark.time)) <= mark_reach_;
  });
  if (near != state_.marks.end()) {
    state_.marks.erase(near);
    return;
  }
  state_.marks.push_back({time, ""});
  std::sort(state_.marks.begin(), state_.marks.end(),
            [](const TimeMark& a, const TimeMark& b) { return a.time < b.time; });
}

void TimelinePane::toggle_chain() {
  tell_of_chain();
  if (hint_.empty()) state_.chain_shown = !state_.chain_shown;
}

void TimelinePane::tell_of_chain() {
  hint_ = why_no_chain(scene_, state_);
  hinted_at_ = state_.selected;
  busy_ = true;
}

TimelineInput TimelinePane::read_input(bool keyboard) const {
  const ImGuiIO& io = ImGui::GetIO();
  TimelineInput input;
  if (hovered_ || control_.busy()) input.pointer = Point{io.MousePos.x, io.MousePos.y};
  input.shift = io.KeyShift;
  input.control = io.KeyCtrl;
  if (hovered_) {
    input.wheel = io.MouseWheel;
    input.wheel_side = io.MouseWheelH;
    input.pressed = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    input.right_clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Right);
    input.double_clicked = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  }
  // Without times there is nothing to measure.
  if (scene_.order_alone()) input.shift = false;
  input.down = ImGui::IsMouseDown(ImGuiMouseButton_Left);
  input.released = ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  input.moved = {io.MouseDelta.x, io.MouseDelta.y};
  if (!keyboard || io.KeyCtrl || io.KeyAlt || io.KeySuper) return input;
  // A frame after a sleep must not count the sleep.
  const float seconds = std::min(io.DeltaTime, 0.05F);
  const auto held = [&](ImGuiKey key) { return ImGui::IsKeyDown(key) ? seconds : 0.0F; };
  input.zoom_in = held(ImGuiKey_W);
  input.zoom_out = held(ImGuiKey_S);
  input.pan_left = held(ImGuiKey_A) + held(ImGuiKey_LeftArrow);
  input.pan_right = held(ImGuiKey_D) + held(ImGuiKey_RightArrow);
  input.fit = ImGui::IsKeyPressed(ImGuiKey_F, false);
  input.toggle_hosts = ImGui::IsKeyPressed(ImGuiKey_H, false);
  input.toggle_counters = ImGui::IsKeyPressed(ImGuiKey_G, false);
  const bool close = ImGui::IsKeyPressed(ImGuiKey_C, false);
  input.toggle_ranks = close && !io.KeyShift;
  input.toggle_sections = close && io.KeyShift;
  input.cycle_order = ImGui::IsKeyPressed(ImGuiKey_O, false);
  input.pin = ImGui::IsKeyPressed(ImGuiKey_P, false);
  input.measure = !scene_.order_alone() && ImGui::IsKeyPressed(ImGuiKey_R, false);
  input.chain = ImGui::IsKeyPressed(ImGuiKey_L, false);
  input.escape = ImGui::IsKeyPressed(ImGuiKey_Escape, false);
  input.page = (ImGui::IsKeyPressed(ImGuiKey_PageDown) ? 1.0F : 0.0F) -
               (ImGui::IsKeyPressed(ImGuiKey_PageUp) ? 1.0F : 0.0F);
  return input;
}

namespace {

// Left of the map: for the order of ranks.
Rect corner_of(const Regions& regions, const Rect& whole) {
  return {regions.gutter.left, whole.top, regions.gutter.right, regions.ruler.top};
}

}  // namespace

void TimelinePane::draw(const Theme& theme, const Fonts& fonts, bool keyboard, const std::string& note) {
  busy_ = frames_ < kSettled;
  measured_anew_ = false;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  const bool open = ImGui::Begin(window_.c_str(), nullptr,
                                 ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  hidden_ = !open;
  if (!open || size.x < 1 || size.y < 1) {
    busy_ = false;  // behind another tab: there is nothing to wait for
    hovered_ = false;
    pointer_time_.reset();
    ImGui::End();
    return;
  }
  const float line = note.empty() ? 0 : fonts.small_size * 1.5F;
  const Rect whole{at.x, at.y + static_cast<float>(sizes_.padding) + line, at.x + size.x, at.y + size.y};
  const bool commanded = !commands_.empty() && frames_ >= kSettled;
  // Not before it is known what fits.
  if (frames_ >= kSettled && std::exchange(unfold_selected_, false) && state_.selected)
    unfold(*state_.selected);
  if (commanded) select_by_commands();
  follow_order();
  if (!(whole == area_) || std::exchange(shown_anew_, false)) {
    // Until the docks have found their sizes; from then on it is the user's.
    if (frames_ <= kSettled && !keep_expansion_) {
      fitting_ = choose_lanes(scene_.timeline(), scale_, whole);
      const Expansion before =
          std::exchange(state_.expansion, expansion_of(scene_.timeline(), std::min(*fitting_, most_shown_)));
      for (const LaneRole role : {LaneRole::host, LaneRole::counter})
        if (const std::optional<bool> open = before.wanted(role))
          state_.expansion.want(scene_.timeline(), role, *open);
    }
    if (frames_ <= kSettled)
      for (const LaneRole role : open_at_first_) state_.expansion.set_all(scene_.timeline(), role, true);
    area_ = whole;
    sizes_ = choose_sizes(scene_.timeline(), state_.expansion, scale_, whole, sequence_);
    busy_ = true;
  }
  // A filter that nothing passes leaves the map's place.
  const auto divide_now = [&] {
    const std::size_t all = scene_.timeline().ranks.size();
    return divide(whole, sizes_, std::clamp(sequence_.ranks.size(), std::min<std::size_t>(all, 1), all));
  };
  Regions regions = divide_now();
  const auto frame_now = [&](const Layout& layout) {
    return Frame{scene_,
                 state_,
                 layout,
                 regions,
                 sizes_,
                 theme,
                 TimeAxis{state_.view, regions.lanes.left, std::max(1.0F, regions.lanes.width())}};
  };
  const auto lay_out_now = [&] {
    return lay_out(scene_.timeline(), state_.expansion, sizes_, sequence_,
                   static_cast<int>(regions.lanes.height()));
  };
  Layout layout = lay_out_now();

  ImGui::SetNextItemAllowOverlap();  // by the strip
  ImGui::InvisibleButton("timeline", size, ImGuiButtonFlags_MouseButtonLeft);
  // The strip's corner aside: what may be overlapped is hovered a frame late, and a press that comes with the
  // pointer would be lost.
  hovered_ = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenOverlappedByItem) &&
             !corner_of(regions, whole).contains(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y);
  if (commanded) apply_commands(frame_now(layout));
  const TimelineInput input = read_input(keyboard);
  if (input.chain) tell_of_chain();
  const std::optional<TimeRange> measured = state_.measured;
  if (control_.apply(input, frame_now(layout), minimap_, state_)) {
    busy_ = true;
    follow_order();
    regions = divide_now();
    layout = lay_out_now();
  }
  follow_chain(scene_, state_);
  if (state_.selected != hinted_at_) hint_.clear();
  measured_anew_ = state_.measured && !measured;
  state_.scroll = clamp_scroll(state_.scroll, frame_now(layout));
  if (frames_ >= kSettled && !control_.busy()) history_.note(state_, ImGui::GetTime());

  minimap_.prepare(scene_, regions.minimap, theme, layout.shown);
  const Frame frame = frame_now(layout);
  // What panning by a screen, zooming out or scrolling by a page would show.
  read_ahead_.want(rows_near(frame), {saturating_add(state_.view.begin, -state_.view.span),
                                      saturating_add(state_.view.begin, 2 * state_.view.span)});
  pointer_time_.reset();
  if (hovered_ && regions.lanes.contains(input.pointer->x, input.pointer->y))
    pointer_time_ = frame.axis.time(input.pointer->x);
  constexpr double kReach = 4;  // pixels
  mark_reach_ = threshold(frame.axis, kReach);
  {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, to_imgui(theme.background));
    ImGuiCanvas canvas(list, fonts);
    if (!note.empty())
      canvas.text({at.x + static_cast<float>(sizes_.padding), at.y + 4},
                  fitted(canvas, note, size.x - 16, Font::bold), theme.text, Font::bold);
    draw_timeline(canvas, frame, minimap_, hovered_ ? std::optional<float>(input.pointer->x) : std::nullopt);
  }
  if (strip_.draw(scene_.facts(), corner_of(regions, whole), theme, fonts, state_.order)) {
    state_.scroll = 0;
    busy_ = true;
  }
  constexpr ImGuiPopupFlags kAny = ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel;
  if (hovered_ && tooltips_ && !control_.busy() && !ImGui::IsPopupOpen("", kAny))
    draw_tooltip(scene_, hit_test(frame, input.pointer->x, input.pointer->y),
                 frame.axis.time(input.pointer->x), theme, fonts);
  ImGui::End();
  ++frames_;
}

}  // namespace lockstep::viewer
