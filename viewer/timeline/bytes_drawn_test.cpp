#include "viewer/timeline/bytes_drawn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using Stretches = std::vector<std::span<const std::byte>>;

template <class T>
bool holds(const Stretches& stretches, const T& value) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value);
  return std::any_of(stretches.begin(), stretches.end(), [&](std::span<const std::byte> bytes) {
    return begin >= bytes.data() && begin + sizeof(T) <= bytes.data() + bytes.size();
  });
}

// Whatever intersects the range, found by looking at all there is.
TEST(BytesDrawn, HoldAllThatIntersectsTheRange) {
  const View view;
  const Scene& scene = *view.scene;
  const TimeRange content = scene.timeline().content;
  std::mt19937_64 random(3);
  std::size_t checked = 0;
  for (int round = 0; round < 500; ++round) {
    const auto any = [&] {
      return content.begin - 50 +
             static_cast<Nanoseconds>(random() % (distance(content.begin, content.end) + 100));
    };
    const auto [begin, end] = std::minmax({any(), any()});
    const TimeRange range{begin, round % 2 == 0 ? end : begin};
    const std::size_t rank = random() % scene.timeline().ranks.size();
    const Stretches stretches = bytes_drawn(scene, rank, range);
    const auto intersects = [&](Nanoseconds from, Nanoseconds to) {
      return from <= range.end && to >= range.begin;
    };
    for (const TrackLane& lane : scene.timeline().ranks[rank].lanes) {
      const bool device = lane.role == LaneRole::compute || lane.role == LaneRole::communication;
      for (const Row& row : lane.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
          if (!intersects(row.begin[i], row.end[i])) continue;
          ++checked;
          EXPECT_TRUE(holds(stretches, row.begin[i]) && holds(stretches, row.end[i]) &&
                      holds(stretches, row.item[i]) && holds(stretches, row.busy[i]));
          EXPECT_TRUE(i == 0 || holds(stretches, row.busy[i - 1]));
          EXPECT_TRUE(lane.role != LaneRole::host ||
                      holds(stretches, scene.data(rank).host_ranges[row.item[i]]));
          EXPECT_TRUE(!device || holds(stretches, scene.data(rank).activities[row.item[i]]));
        }
      }
      for (const analyzer::CounterPoint& point : lane.counter.points)
        EXPECT_TRUE(!intersects(point.time, point.time) || holds(stretches, point));
    }
    for (const analyzer::CauseSegment& segment : scene.segments(rank))
      EXPECT_TRUE(!intersects(segment.begin, segment.end - 1) || holds(stretches, segment));
    for (const StepSpan& step : scene.timeline().ranks[rank].steps)
      EXPECT_TRUE(!intersects(step.begin, step.end) || holds(stretches, step));
  }
  EXPECT_GT(checked, 1000u);
}

// What is read follows the range, not the run.
TEST(BytesDrawn, OfAShortRangeAreFew) {
  SyntheticOptions options;
  options.steps = 200;
  const View view(options);
  const auto size_of = [&](const TimeRange& range) {
    std::size_t size = 0;
    for (const auto bytes : bytes_drawn(*view.scene, 0, range)) size += bytes.size();
    return size;
  };
  const TimeRange content = view.scene->timeline().content;
  const Nanoseconds middle = content.begin + (content.end - content.begin) / 2;
  EXPECT_LT(size_of({middle, middle + 1}) * 4, size_of(content));
}

TEST(BytesDrawn, NoStretchIsEmpty) {
  const View view;
  const TimeRange content = view.scene->timeline().content;
  for (const TimeRange& range :
       {content, TimeRange{content.begin - 1'000'000, content.begin - 999'999},
        TimeRange{content.end + 999'999, content.end + 1'000'000},
        TimeRange{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()}}) {
    for (std::size_t rank = 0; rank < view.scene->timeline().ranks.size(); ++rank)
      for (const auto bytes : bytes_drawn(*view.scene, rank, range)) EXPECT_FALSE(bytes.empty());
  }
}

TEST(RanksNear, AreThoseOnTheScreenAndThenAPageBelowAndAboveTheNearestFirst) {
  SyntheticOptions options;
  options.late.assign(40, 0);
  View view(options);
  view.whole.bottom = view.whole.top + 300;
  view.state.order.pinned = {39};
  view.arrange();
  view.state.scroll = view.layout.ranks[12].y - view.layout.fixed_height;
  const Frame frame = view.frame();
  const auto on_screen = frame.ranks_on_screen(false);
  ASSERT_FALSE(on_screen.empty());
  ASSERT_GT(on_screen.front(), on_screen.size());
  std::vector<std::uint32_t> expected{39};
  expected.insert(expected.end(), on_screen.begin(), on_screen.end());
  for (std::uint32_t i = 1; i <= on_screen.size(); ++i) {
    expected.push_back(on_screen.back() + i);
    expected.push_back(on_screen.front() - i);
  }
  EXPECT_EQ(ranks_near(frame), expected);
}

TEST(RanksNear, EndWithTheRanksThereAre) {
  SyntheticOptions options;
  options.late.assign(3, 0);
  const View view(options);
  EXPECT_EQ(ranks_near(view.frame()), (std::vector<std::uint32_t>{0, 1, 2}));
}

}  // namespace
}  // namespace lockstep::viewer
