#include "viewer/timeline/input.h"

#include <gtest/gtest.h>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

void press(View& view, Point at, bool shift = false) {
  view.apply({.pointer = at, .shift = shift, .pressed = true, .down = true});
}
void drag(View& view, Point from, Point to, bool shift = false) {
  view.apply({.pointer = to, .shift = shift, .down = true, .moved = {to.x - from.x, to.y - from.y}});
}
void release(View& view, Point at) {
  view.apply({.pointer = at, .released = true});
}
void click(View& view, Point at) {
  press(view, at);
  release(view, at);
}

TEST(Input, TheWheelZoomsAtThePointer) {
  View view;
  const Point at = view.point(0, LaneRole::compute, 1'500);
  const Nanoseconds before = view.frame().axis.time(at.x);
  const double span = view.state.view.span;
  EXPECT_TRUE(view.apply({.pointer = at, .wheel = 3}));
  EXPECT_LT(view.state.view.span, span * 0.6);
  EXPECT_NEAR(static_cast<double>(view.frame().axis.time(at.x)), static_cast<double>(before), 3);
}

TEST(Input, ControlZoomsFinely) {
  View fine, coarse;
  const Point at = fine.point(0, LaneRole::compute, 1'500);
  fine.apply({.pointer = at, .control = true, .wheel = 1});
  coarse.apply({.pointer = at, .wheel = 1});
  EXPECT_GT(fine.state.view.span, coarse.state.view.span);
}

TEST(Input, DraggingMovesWhatIsUnderThePointer) {
  View view;
  view.show(1'000, 2'000);
  const Point from = view.point(0, LaneRole::compute, 1'500);
  const Point to{from.x + 200, from.y};
  press(view, from);
  drag(view, from, to);
  EXPECT_NEAR(static_cast<double>(view.frame().axis.time(to.x)), 1'500, 2);
  release(view, to);
  EXPECT_FALSE(view.state.selected.has_value()) << "a drag is no click";
  EXPECT_FALSE(view.control.busy());
}

// What a slow frame sees: the way to the place together with the press, the rest together with the release.
TEST(Input, ADragInTwoFramesMeasuresAllOfIt) {
  View view;
  view.show(0, 992);  // a pixel a nanosecond
  const Point from = view.point(0, LaneRole::compute, 300);
  const Point to = view.point(0, LaneRole::compute, 700);
  view.apply({.pointer = from, .shift = true, .pressed = true, .down = true, .moved = {400, 100}});
  EXPECT_FALSE(view.state.measured.has_value()) << "nothing is dragged yet";
  view.apply({.pointer = to, .shift = true, .released = true, .moved = {to.x - from.x, to.y - from.y}});
  ASSERT_TRUE(view.state.measured.has_value());
  EXPECT_EQ(view.state.measured->begin, 300);
  EXPECT_EQ(view.state.measured->end, 700);
  EXPECT_FALSE(view.control.busy());
}

TEST(Input, ADragBackToItsBeginMeasuresNothing) {
  View view;
  const Point from = view.point(0, LaneRole::compute, 300);
  press(view, from, true);
  drag(view, from, {from.x + 100, from.y}, true);
  EXPECT_TRUE(view.state.measured.has_value());
  drag(view, {from.x + 100, from.y}, from, true);
  release(view, from);
  EXPECT_FALSE(view.state.measured.has_value());
}

TEST(Input, DraggingUpScrolls) {
  SyntheticOptions options;
  options.late.assign(50, 0);
  View view(options);
  const Point from = view.point(2, LaneRole::compute, 1'500);
  press(view, from);
  for (int i = 0; i < 10; ++i) drag(view, from, {from.x, from.y - 10.5F});
  EXPECT_EQ(view.state.scroll, 105);
  for (int i = 0; i < 10'000; ++i) drag(view, from, {from.x, from.y - 100});
  EXPECT_EQ(view.state.scroll, view.layout.height - static_cast<int>(view.regions.lanes.height()));
}

TEST(Input, AClickSelectsAndEscapeDrops) {
  View view;
  view.show(0, kSyntheticStep);
  click(view, view.point(3, LaneRole::compute, 300));
  ASSERT_TRUE(view.state.selected.has_value());
  EXPECT_EQ(view.state.selected->rank, 3u);
  EXPECT_EQ(view.scene->activity_of(*view.state.selected), 0u);
  view.apply({.escape = true});
  EXPECT_FALSE(view.state.selected.has_value());
  click(view, view.point(3, LaneRole::compute, 300));
  click(view, view.point(3, LaneRole::compute, 1'100));
  EXPECT_FALSE(view.state.selected.has_value()) << "a click on nothing drops the selection";
}

TEST(Input, ShiftDraggingMeasuresToTheNanosecond) {
  View view;
  view.show(0, 992);  // a pixel a nanosecond
  const Point from = view.point(0, LaneRole::compute, 700);
  const Point to = view.point(0, LaneRole::compute, 300);
  press(view, from, true);
  drag(view, from, to, true);
  release(view, to);
  ASSERT_TRUE(view.state.measured.has_value());
  EXPECT_EQ(view.state.measured->begin, 300);
  EXPECT_EQ(view.state.measured->end, 700);
}

TEST(Input, ADoubleClickShowsACollectiveOnAllRanks) {
  View view;
  const Point at = view.point(2, LaneRole::communication, 900);
  view.apply({.pointer = at, .double_clicked = true});
  const TimeRange visible = view.frame().axis.visible();
  EXPECT_LT(visible.begin, 500) << "the first arrival";
  EXPECT_GT(visible.end, 1'000) << "the end";
  EXPECT_LT(view.state.view.span, 800);
}

TEST(Input, ADoubleClickOpensAFold) {
  SyntheticOptions options;
  options.steps = 5'000;
  View view(options);
  const Point at = view.point(0, LaneRole::compute, 2'500 * kSyntheticStep);
  const Hit hit = hit_test(view.frame(), at.x, at.y);
  ASSERT_TRUE(hit.box.has_value());
  ASSERT_TRUE(hit.box->folded());
  EXPECT_FALSE(hit.item.has_value());
}

TEST(Input, FShowsTheSelectionElseEverything) {
  View view;
  view.show(1'000, 1'010);
  view.apply({.fit = true});
  EXPECT_LE(view.frame().axis.visible().begin, view.scene->timeline().focus.begin);
  EXPECT_GE(view.frame().axis.visible().end, view.scene->timeline().focus.end);
  view.state.selected = view.scene->find_activity(0, 0);  // 100 to 500
  view.apply({.fit = true});
  EXPECT_GT(view.state.view.span, 400);
  EXPECT_LT(view.state.view.span, 600);
}

TEST(Input, HeldKeysZoomAndPanByTime) {
  View view;
  view.show(1'000, 2'000);
  EXPECT_TRUE(view.apply({.pan_right = 0.1F}));
  EXPECT_NEAR(static_cast<double>(view.state.view.begin), 1'090, 2);
  const double span = view.state.view.span;
  view.apply({.zoom_in = 0.1F});
  EXPECT_LT(view.state.view.span, span);
  EXPECT_FALSE(view.apply({})) << "nothing to draw anew";
}

TEST(Input, TheGutterClosesRanksAndOpensHosts) {
  View view;
  const Rect name = view.area(1, LaneRole::causes);
  click(view, {20, (name.top + name.bottom) / 2});
  EXPECT_FALSE(view.state.expansion.rank_open(1));
  const Rect host = view.area(2, LaneRole::host);
  click(view, {20, (host.top + host.bottom) / 2});
  EXPECT_TRUE(view.state.expansion.lane_open(2, 3));
  view.apply({.toggle_ranks = true});
  EXPECT_FALSE(view.state.expansion.rank_open(0));
}

TEST(Input, TheScrollBarMovesTheRanks) {
  SyntheticOptions options;
  options.late.assign(100, 0);
  View view(options);
  const float x = view.regions.lanes.right + 2;
  const int most = view.layout.height - static_cast<int>(view.regions.lanes.height());
  press(view, {x, view.regions.lanes.top + view.regions.lanes.height() / 2});
  EXPECT_NEAR(view.state.scroll, most / 2, 2);
  const Rect thumb = scroll_thumb(view.frame());
  EXPECT_NEAR((thumb.top + thumb.bottom) / 2, view.regions.lanes.top + view.regions.lanes.height() / 2, 1);
  drag(view, {x, 500}, {x, 5'000});
  EXPECT_EQ(view.state.scroll, most);
  release(view, {x, 5'000});
  EXPECT_FALSE(view.control.busy());
  EXPECT_EQ(scroll_thumb(View().frame()).height(), 0) << "all fit";
}

TEST(ScrollTo, MovesAsLittleAsNeeded) {
  SyntheticOptions options;
  options.late.assign(100, 0);
  View view(options);
  const int height = view.layout.ranks[0].height;
  const int screen = static_cast<int>(view.regions.lanes.height());
  EXPECT_EQ(scroll_to(view.frame(), 1), 0) << "on the screen already";
  EXPECT_EQ(scroll_to(view.frame(), 50), 51 * height - screen) << "at the lower edge";
  view.state.scroll = 80 * height;
  EXPECT_EQ(scroll_to(view.frame(), 50), 50 * height) << "at the upper edge";
}

TEST(Input, TheMinimapMovesTheView) {
  SyntheticOptions options;
  options.steps = 100;
  View view(options);
  view.show(0, 1'000);
  const Rect& map = view.regions.minimap;
  press(view, {map.left + map.width() / 2, map.top + 2});
  const TimeRange visible = view.frame().axis.visible();
  EXPECT_NEAR(static_cast<double>(visible.begin + visible.end) / 2, 50.0 * kSyntheticStep, 200);
}

TEST(Input, HoveringFindsEveryRow) {
  View view;
  view.show(0, kSyntheticStep);
  for (const LaneRole role : {LaneRole::causes, LaneRole::compute, LaneRole::communication, LaneRole::host}) {
    view.apply({.pointer = view.point(1, role, role == LaneRole::communication ? 700 : 300)});
    ASSERT_TRUE(view.state.hovered.has_value()) << static_cast<int>(role);
    EXPECT_EQ(view.state.hovered->rank, 1u);
  }
  view.apply({});
  EXPECT_FALSE(view.state.hovered.has_value());
}

TEST(Input, RSetsOneEndAndThenTheOther) {
  View view;
  view.show(0, 992);  // a pixel a nanosecond
  view.apply({.pointer = view.point(0, LaneRole::compute, 700), .measure = true});
  EXPECT_FALSE(view.state.measured.has_value());
  EXPECT_EQ(view.state.measure_from, 700);
  view.apply({.pointer = view.point(2, LaneRole::compute, 300), .measure = true});
  ASSERT_TRUE(view.state.measured.has_value());
  EXPECT_EQ(view.state.measured->begin, 300);
  EXPECT_EQ(view.state.measured->end, 700);
  EXPECT_FALSE(view.state.measure_from.has_value());
  // A new one drops the old one; Escape drops what was begun.
  view.apply({.pointer = view.point(0, LaneRole::compute, 100), .measure = true});
  EXPECT_FALSE(view.state.measured.has_value());
  view.apply({.escape = true});
  EXPECT_FALSE(view.state.measure_from.has_value());
  // Twice at one place is nothing.
  view.apply({.pointer = view.point(0, LaneRole::compute, 100), .measure = true});
  view.apply({.pointer = view.point(0, LaneRole::compute, 100), .measure = true});
  EXPECT_FALSE(view.state.measured.has_value());
  view.apply({});
  EXPECT_FALSE(view.apply({.measure = true})) << "the pointer is elsewhere";
}

std::vector<std::int32_t> shown_ranks(const View& view) {
  std::vector<std::int32_t> ranks;
  for (const std::uint32_t rank : view.layout.shown) ranks.push_back(view.scene->timeline().ranks[rank].rank);
  return ranks;
}

TEST(Input, OGoesThroughTheOrders) {
  View view;
  view.state.scroll = 10;
  view.apply({.cycle_order = true});
  EXPECT_EQ(view.state.order.by, OrderBy::lost) << "one host, and no group but the whole job";
  EXPECT_EQ(shown_ranks(view), (std::vector<std::int32_t>{2, 0, 1, 3}));
  EXPECT_EQ(view.state.scroll, 0);
  view.apply({.cycle_order = true});
  EXPECT_EQ(shown_ranks(view), (std::vector<std::int32_t>{0, 1, 3, 2}));
}

TEST(Input, RanksArePinnedByKeyAndByTheirNames) {
  View view;
  const auto name = [&](std::size_t rank) {
    const Rect bar = view.area(rank, LaneRole::causes);
    return Point{20, (bar.top + bar.bottom) / 2};
  };
  view.apply({.pointer = view.point(3, LaneRole::compute, 300), .pin = true});
  EXPECT_EQ(shown_ranks(view), (std::vector<std::int32_t>{3, 0, 1, 2}));
  view.apply({.pointer = name(2), .right_clicked = true});
  EXPECT_EQ(shown_ranks(view), (std::vector<std::int32_t>{3, 2, 0, 1}));
  const Point at = name(1);
  view.apply({.pointer = at, .control = true, .pressed = true, .down = true});
  view.apply({.pointer = at, .control = true, .released = true});
  EXPECT_EQ(shown_ranks(view), (std::vector<std::int32_t>{3, 2, 1, 0}));
  EXPECT_TRUE(view.state.expansion.rank_open(1)) << "a click with Ctrl does not close it";
  view.apply({.pointer = name(3), .right_clicked = true});
  EXPECT_EQ(shown_ranks(view), (std::vector<std::int32_t>{2, 1, 0, 3}));
  view.apply({.pointer = view.point(0, LaneRole::compute, 300), .right_clicked = true});
  EXPECT_EQ(view.state.order.pinned.size(), 2u) << "the lanes are not the name";
}

TEST(Input, PinnedRanksDoNotScrollAway) {
  SyntheticOptions options;
  options.late.assign(100, 0);
  View view(options);
  view.state.order.pinned = {70, 30};
  view.arrange();
  ASSERT_EQ(view.layout.fixed, 2u);
  const float before = view.frame().rank_top(70);
  EXPECT_EQ(before, view.regions.lanes.top);
  view.state.scroll = view.layout.height / 2;
  EXPECT_EQ(view.frame().rank_top(70), before);
  // What is under the pointer there is the pinned one, not what scrolls below it.
  const Point pinned = view.point(30, LaneRole::compute, 300);
  EXPECT_EQ(hit_test(view.frame(), pinned.x, pinned.y).rank, 30u);
  const float below = view.regions.lanes.top + static_cast<float>(view.layout.fixed_height) + 1;
  const auto first = hit_test(view.frame(), pinned.x, below).rank;
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first, view.frame().ranks_on_screen(false).front());
  // To the rank just hidden below the pinned ones: it is brought below them.
  const std::uint32_t hidden = *first - 3;
  view.state.scroll = scroll_to(view.frame(), hidden);
  EXPECT_EQ(view.frame().rank_top(hidden),
            view.regions.lanes.top + static_cast<float>(view.layout.fixed_height));
  const int scroll = view.state.scroll;
  EXPECT_EQ(scroll_to(view.frame(), 70), scroll) << "it is always there";
}

TEST(Input, AClickOnAHostClosesIt) {
  analyzer::Job job = synthetic_job();
  job.ranks[0].host = job.ranks[1].host = "a";
  job.ranks[2].host = job.ranks[3].host = "b";
  View view(std::move(job));
  view.state.order.by = OrderBy::host;
  view.arrange();
  ASSERT_EQ(view.layout.sections.size(), 2u);
  const auto header = [&](std::size_t section) {
    const SectionPlace& place = view.layout.sections[section];
    return Point{20, view.regions.lanes.top + static_cast<float>(place.y + place.height / 2)};
  };
  click(view, header(0));
  EXPECT_EQ(shown_ranks(view), (std::vector<std::int32_t>{2, 3}));
  click(view, header(0));
  EXPECT_EQ(shown_ranks(view), (std::vector<std::int32_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace lockstep::viewer
